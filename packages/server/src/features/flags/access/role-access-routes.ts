import { editableFlagsMax, routes } from '@halyard/contract'
import type { Flag } from '../../../domain/flag.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { canEditFlag, type Role, type RoleAccess } from '../../access/access.ts'
import { effectiveAccessToWire, roleAccessToWire } from '../../access/access-resource.ts'
import { grantsFor, requireCanGrant } from '../../access/grants.ts'
import { listEffectiveAccess, listFlagAccess, requireCanListAccess } from '../../access/list-effective-access.ts'
import { flagToWire } from '../flag-resource.ts'
import { getFlag } from '../flag-routes.ts'
import { grantRoleAccess, revokeRoleAccess } from './grant-role-access.ts'

/** Contract 4.3. */
export function serveRoleAccess(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.roleAccess

  serve(r.listFlagAccess, async ({ organization, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => listFlagAccess(tx, organization.id, window))
    return pageBody(page, window, url, ({ user, access, role, editableFlags }) => ({
      ...effectiveAccessToWire(user, access, role),
      editable_flags: editableFlags.slice(0, editableFlagsMax),
      editable_flag_count: editableFlags.length,
    }))
  })

  serve(r.listEffective, ({ actor, project, params, query, url }) => {
    requireCanListAccess(actor, project)
    const window = readWindow(query)
    return database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const page = await listEffectiveAccess(tx, project, flag, window)
      return pageBody(page, window, url, ({ user, access, role }) => effectiveAccessToWire(user, access, role))
    })
  })

  serve(r.list, ({ actor, project, params, query, url }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.parent_lookup_feature_flag_id)
      const window = readWindow(query)
      const page = await tx.roleAccess.list(flag.id, window)
      const wires = await toWire(tx, actor, project, flag, page.items)
      return pageBody({ count: page.count, items: wires }, window, url, wire => wire)
    }),
  )

  serve(r.create, async request => {
    const { actor, project, params } = request
    await database.read(async tx =>
      requireCanGrant(tx, actor, project, await getFlag(tx, project, params.parent_lookup_feature_flag_id)),
    )
    const { role_id } = request.body
    return database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.parent_lookup_feature_flag_id)
      await requireCanGrant(tx, actor, project, flag)
      const access = await grantRoleAccess(tx, actor, project, flag, role_id, now())
      return getWire(tx, actor, project, flag, access)
    })
  })

  serve(r.get, ({ actor, project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.parent_lookup_feature_flag_id)
      return getWire(tx, actor, project, flag, await getRoleAccess(tx, flag, params.id))
    }),
  )

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.parent_lookup_feature_flag_id)
      const access = await getRoleAccess(tx, flag, params.id)
      await requireCanGrant(tx, actor, project, flag, access.id)
      await revokeRoleAccess(tx, actor, project, flag, access, now())
    })
    return answer({ status: 204 })
  })
}

async function getRoleAccess(tx: Stores, flag: Flag, id: string): Promise<RoleAccess> {
  const access = await tx.roleAccess.find(flag.id, Number(id))
  if (!access) throw missing('Role access')
  return access
}

async function toWire(tx: Stores, actor: Actor, project: Project, flag: Flag, list: readonly RoleAccess[]) {
  const grants = await grantsFor(tx, actor, project)
  const roles = new Map((await tx.roles.findAll(list.map(access => access.roleId))).map(role => [role.id, role]))
  const wire = flagToWire(flag, canEditFlag(grants, flag))
  return list.map(access => roleAccessToWire(access, wire, roles.get(access.roleId) as Role))
}

async function getWire(tx: Stores, actor: Actor, project: Project, flag: Flag, access: RoleAccess) {
  const [wire] = await toWire(tx, actor, project, flag, [access])
  if (!wire) throw missing('Role access')
  return wire
}
