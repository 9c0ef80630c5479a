import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Organization, requireLevel } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { requireRoleByHand, requireRoleMemberByHand } from '../identity/managed-account.ts'
import { newUuid } from '../identity/secret.ts'
import { type AccessLevel, editAccess, isAccessLevel, type ResourceAccess, type Role, resources } from './access.ts'
import { resourceAccessToWire, roleMembershipToWire, roleToWire } from './access-resource.ts'
import { announceAccess } from './announce-access.ts'
import { createRole } from './create-role.ts'
import { removeRole } from './remove-role.ts'

/** Roles, role memberships and organization-wide access settings. Admins write, members read. */
export function serveAccess(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.roles
  const change = <T>(organization: Organization, work: (tx: Stores) => Promise<T>): Promise<T> =>
    database.transaction(async tx => {
      const result = await work(tx)
      await announceAccess(tx, { organizationId: organization.id }, organization.id, now())
      return result
    })

  serve(r.list, async ({ organization, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.roles.list(organization.id, window))
    return pageBody(page, window, url, roleToWire)
  })

  serve(r.create, async ({ actor, organization, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'create roles')
    const name = body.name
    const sentLevel = readLevel(body.feature_flags_access_level, 'feature_flags_access_level')
    return roleToWire(
      await change(organization, async tx => {
        const role = await createRole(tx, actor, organization, { name, accessLevel: sentLevel }, now())
        recordRole(tx, actor, role, { activity: 'created', after: auditedRole(role) }, now())
        return role
      }),
    )
  })

  serve(r.get, async ({ organization, params }) =>
    roleToWire(await database.read(tx => getRole(tx, organization, params.role_id))),
  )

  serve(r.update, async ({ actor, organization, params, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'change roles')
    return roleToWire(
      await change(organization, async tx => {
        const stored = await getRole(tx, organization, params.role_id)
        const { id } = stored
        const accessLevel = readLevel(body.feature_flags_access_level, 'feature_flags_access_level')
        if (body.name !== undefined && body.name !== stored.name) await requireRoleByHand(tx, id, now())
        await tx.roles.update(id, { name: body.name, accessLevel })
        const changed = await getRole(tx, organization, id)
        const fields = { before: auditedRole(stored), after: auditedRole(changed) }
        recordRole(tx, actor, changed, { activity: 'updated', ...fields }, now())
        return changed
      }),
    )
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, 'delete roles')
    await change(organization, async tx => {
      const role = await getRole(tx, organization, params.role_id)
      await requireRoleByHand(tx, role.id, now())
      await removeRole(tx, role, now())
      recordRole(tx, actor, role, { activity: 'deleted', before: auditedRole(role) }, now())
    })
    return answer({ status: 204 })
  })

  serve(r.listMemberships, ({ organization, params, query, url }) =>
    database.read(async tx => {
      const role = await getRole(tx, organization, params.role_id)
      const window = readWindow(query)
      return pageBody(await tx.roles.listMembers(role.id, window), window, url, roleMembershipToWire)
    }),
  )

  serve(r.createMembership, async ({ actor, organization, params, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'add members to roles')
    return roleMembershipToWire(
      await change(organization, async tx => {
        const role = await getRole(tx, organization, params.role_id)
        const member = await tx.organizations.findMember(organization.id, body.user_uuid)
        if (!member) throw invalid('user_uuid', 'does_not_exist', '`user_uuid` is not a member of the organization.')
        await requireRoleMemberByHand(tx, role, member.user.id, now())
        const membership = { id: newUuid(), roleId: role.id, joinedAt: now(), updatedAt: now() }
        await tx.roles.addMember({ ...membership, userId: member.user.id })
        recordRoleMember(
          tx,
          actor,
          role,
          membership.id,
          { activity: 'created', after: { email: member.user.email } },
          now(),
        )
        return { ...membership, user: member.user }
      }),
    )
  })

  serve(r.getMembership, ({ organization, params }) =>
    database.read(async tx => {
      const role = await getRole(tx, organization, params.role_id)
      const membership = await tx.roles.findMember(role.id, params.membership_id)
      if (!membership) throw missing('Role membership')
      return roleMembershipToWire(membership)
    }),
  )

  serve(r.removeMembership, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, 'remove members from roles')
    await change(organization, async tx => {
      const role = await getRole(tx, organization, params.role_id)
      const membership = await tx.roles.findMember(role.id, params.membership_id)
      if (membership) await requireRoleMemberByHand(tx, role, membership.user.id, now())
      if (!(await tx.roles.removeMember(role.id, params.membership_id))) throw missing('Role membership')
      const before = { email: membership?.user.email ?? null }
      recordRoleMember(tx, actor, role, params.membership_id, { activity: 'deleted', before }, now())
    })
    return answer({ status: 204 })
  })

  serve(r.listResourceAccess, async ({ organization, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.resourceAccess.list(organization.id, window))
    return pageBody(page, window, url, resourceAccessToWire)
  })

  serve(r.createResourceAccess, async ({ actor, organization, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'set access')
    if (!resources.includes(body.resource)) {
      throw invalid('resource', 'invalid_choice', `\`resource\` must be one of: ${resources.join(', ')}.`)
    }
    const accessLevel = readLevel(body.access_level, 'access_level') ?? editAccess
    const access = {
      organizationId: organization.id,
      resource: body.resource,
      accessLevel,
      createdBy: actor.user,
      createdAt: now(),
      updatedAt: now(),
    }
    return resourceAccessToWire(
      await change(organization, async tx => {
        const created = await tx.resourceAccess.create(access)
        recordSetting(tx, actor, created, { activity: 'created', after: { access_level: accessLevel } }, now())
        return created
      }),
    )
  })

  serve(r.getResourceAccess, async ({ organization, params }) =>
    resourceAccessToWire(await database.read(tx => getResourceAccess(tx, organization, params.id))),
  )

  serve(r.updateResourceAccess, async ({ actor, organization, params, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'set access')
    return resourceAccessToWire(
      await change(organization, async tx => {
        const stored = await getResourceAccess(tx, organization, params.id)
        await tx.resourceAccess.update(stored.id, readLevel(body.access_level, 'access_level'), now())
        const changed = await getResourceAccess(tx, organization, params.id)
        const fields = { before: { access_level: stored.accessLevel }, after: { access_level: changed.accessLevel } }
        recordSetting(tx, actor, changed, { activity: 'updated', ...fields }, now())
        return changed
      }),
    )
  })

  serve(r.removeResourceAccess, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, 'set access')
    await change(organization, async tx => {
      const access = await getResourceAccess(tx, organization, params.id)
      await tx.resourceAccess.remove(access.id)
      recordSetting(tx, actor, access, { activity: 'deleted', before: { access_level: access.accessLevel } }, now())
    })
    return answer({ status: 204 })
  })
}

type Change = Pick<AuditRecord, 'activity' | 'before' | 'after'>

const auditedRole = ({ name, accessLevel }: Role) => ({ name, feature_flags_access_level: accessLevel })

const recordRole = (tx: Stores, actor: Actor, { id, organizationId, name }: Role, change: Change, now: Instant): void =>
  recordAudit(tx, actor, { organizationId }, { scope: 'Role', itemId: id, name, ...change }, now)

const recordRoleMember = (
  tx: Stores,
  actor: Actor,
  { organizationId, name }: Role,
  membershipId: string,
  change: Change,
  now: Instant,
): void =>
  recordAudit(tx, actor, { organizationId }, { scope: 'RoleMember', itemId: membershipId, name, ...change }, now)

const recordSetting = (
  tx: Stores,
  actor: Actor,
  { id, organizationId, resource }: ResourceAccess,
  change: Change,
  now: Instant,
): void =>
  recordAudit(tx, actor, { organizationId }, { scope: 'AccessSetting', itemId: id, name: resource, ...change }, now)

async function getRole(tx: Stores, organization: Organization, roleId: string): Promise<Role> {
  const role = await tx.roles.find(organization.id, roleId)
  if (!role) throw missing('Role')
  return role
}

async function getResourceAccess(tx: Stores, organization: Organization, id: string) {
  const access = await tx.resourceAccess.find(organization.id, Number(id))
  if (!access) throw missing('Access setting')
  return access
}

function readLevel(level: number | undefined, field: string): AccessLevel | undefined {
  if (level === undefined || isAccessLevel(level)) return level
  throw invalid(field, 'invalid_choice', `\`${field}\` must be 21 (view) or 37 (edit).`)
}
