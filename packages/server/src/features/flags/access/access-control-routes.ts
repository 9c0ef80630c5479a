import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { forbidden, invalid } from '../../../problem.ts'
import { type Actor, adminLevel, levelIn, type Project, requireLevel } from '../../../tenancy.ts'
import { canEditFlag, canEditWithout, editAccess, flagResource } from '../../access/access.ts'
import { announceAccess } from '../../access/announce-access.ts'
import { grantsFor, requireCanGrant } from '../../access/grants.ts'
import { getFlag } from '../flag-routes.ts'
import {
  availableLevels,
  controlToWire,
  defaultLevel,
  levelName,
  readControl,
  roleOf,
  setResourceControl,
} from './access-control.ts'
import { grantRoleAccess, revokeRoleAccess } from './grant-role-access.ts'

/** These lists have no pages. */
const window = { limit: 1000, offset: 0 }

/** PostHog's access controls, mapped to role access, roles and the organization-wide setting. */
export function serveAccessControls(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.accessControls

  serve(r.listOfFlag, ({ actor, project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const { items } = await tx.roleAccess.list(flag.id, window)
      const grants = await grantsFor(tx, actor, project)
      return {
        access_controls: items.map(access =>
          controlToWire({ ...access, level: editAccess, flagId: flag.id, createdAt: access.addedAt }),
        ),
        available_access_levels: ['editor'],
        default_access_level: levelName(await defaultLevel(tx, project)),
        user_access_level: canEditFlag(grants, flag) ? ('editor' as const) : ('viewer' as const),
        user_can_edit_access_levels: canEditWithout(grants, flag, undefined),
      }
    }),
  )

  serve(r.setOfFlag, ({ actor, project, params, body }) =>
    database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const level = readControl(body)
      if (!body.role) throw invalid('role', 'required', '`role` is required: access to one flag is granted to roles.')
      if (level !== undefined && level !== editAccess) {
        throw invalid('access_level', 'invalid_choice', '`access_level` must be editor or null for one flag.')
      }
      const role = await roleOf(tx, project, body.role)
      const existing = await tx.roleAccess.findByRole(flag.id, role.id)
      await requireCanGrant(tx, actor, project, flag, existing?.id)
      if (level === undefined) {
        if (existing) await revokeRoleAccess(tx, actor, project, flag, existing, now())
        return answer({ status: 204 })
      }
      const access = existing ?? (await grantRoleAccess(tx, actor, project, flag, role.id, now()))
      return controlToWire({ ...access, level, flagId: flag.id, createdAt: access.addedAt })
    }),
  )

  serve(r.listOfResources, ({ actor, project }) =>
    database.read(async tx => {
      const setting = await tx.resourceAccess.findFor(project.organizationId, flagResource)
      const { items: roles } = await tx.roles.list(project.organizationId, window)
      const { roles: own } = await grantsFor(tx, actor, project)
      const fallback = await defaultLevel(tx, project)
      const canEdit = isAdmin(actor, project) || [fallback, ...own.map(role => role.accessLevel)].includes(editAccess)
      return {
        access_controls: [
          ...(setting ? [controlToWire({ ...setting, level: setting.accessLevel })] : []),
          ...roles.map(role => controlToWire({ level: role.accessLevel, roleId: role.id, createdAt: role.createdAt })),
        ],
        available_access_levels: availableLevels,
        default_access_level: levelName(fallback),
        user_access_level: canEdit ? ('editor' as const) : ('viewer' as const),
        user_can_edit_access_levels: isAdmin(actor, project),
      }
    }),
  )

  serve(r.setOfResources, ({ actor, project, body }) => {
    requireOrganizationKey(actor, project)
    requireLevel(actor, project.organizationId, adminLevel, 'set access')
    const level = readControl(body)
    return database.transaction(async tx => {
      const control = await setResourceControl(tx, actor, project, { level, roleId: body.role ?? undefined }, now())
      await announceAccess(tx, { organizationId: project.organizationId }, project.organizationId, now())
      return control ?? answer({ status: 204 })
    })
  })

  serve(r.listOfProject, async ({ actor, project }) => ({
    access_controls: [],
    available_access_levels: ['member'],
    default_access_level: 'member' as const,
    user_access_level: isAdmin(actor, project) ? ('admin' as const) : ('member' as const),
    user_can_edit_access_levels: false,
  }))
}

/** The setting reaches all projects of the organization, so a key for one project must not change it. Raises `forbidden`. */
function requireOrganizationKey(actor: Actor, { organizationId }: Project): void {
  if (levelIn(actor, organizationId) === undefined) {
    throw forbidden('This key is limited to some projects, and this setting applies to the whole organization.')
  }
}

const isAdmin = ({ levels }: Actor, { organizationId }: Project): boolean =>
  (levels.get(organizationId) ?? 0) >= adminLevel
