import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import {
  type Actor,
  adminLevel,
  levelIn,
  memberLevel,
  type Organization,
  ownerLevel,
  requireLevel,
} from '../../tenancy.ts'
import { isAccessLevel } from '../access/access.ts'
import { announceAccess } from '../access/announce-access.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { sessionToWire } from '../identity/api-key-resource.ts'
import { visibleProjects } from '../identity/authenticator.ts'
import { openSession } from '../identity/sign-in/open-session.ts'
import type { Passwords } from '../identity/sign-in/password.ts'
import { changeLevel, removeMember } from './change-member.ts'
import { createOrganization } from './create-organization.ts'
import { acceptInvite, createInvite, getOpenInvite, joinByInvite, recordInvite } from './invite.ts'
import { inviteToWire, memberToWire, newInviteToWire, organizationToWire } from './organization-resource.ts'

interface Deps extends RouteDeps {
  readonly passwords: Passwords
  /** Starts the removal of what is left. */
  readonly onDeleted: () => void
}

const pluginsAccessLevels = [0, 3, 6, 9]

export function serveOrganizations(serve: ServeRoute, { database, passwords, onDeleted, now }: Deps): void {
  const r = routes.organizations

  serve(r.list, ({ actor, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const visible = [...actor.levels.keys()].filter(id => levelIn(actor, id) !== undefined)
      const page = await tx.organizations.list(visible, window)
      const projects = await projectsOf(tx, actor)
      return pageBody(page, window, url, organization => organizationToWire(organization, actor, projects))
    }),
  )

  serve(r.create, async ({ actor, body }) => {
    const name = body.name
    if (actor.key.projectIds.length > 0 || actor.key.organizationIds.length > 0) {
      throw invalid(null, 'invalid_input', 'Use a key without `scoped_teams` and `scoped_organizations`.')
    }
    if (actor.isService || (!actor.isStaff && ![...actor.levels.values()].some(level => level >= adminLevel))) {
      throw forbidden('Only admins of an organization can create another one.')
    }
    const { organization, project } = await database.transaction(tx =>
      createOrganization(tx, actor, { organization: name, project: 'Default project' }, now()),
    )
    const owner = { ...actor, levels: new Map([...actor.levels, [organization.id, ownerLevel] as const]) }
    return organizationToWire(organization, owner, [project])
  })

  serve(r.get, ({ actor, organization }) => database.read(tx => toWire(tx, actor, organization)))

  serve(r.update, async ({ actor, organization, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'change it')
    const defaultAccessLevel = body.default_access_level
    if (defaultAccessLevel !== undefined && !isAccessLevel(defaultAccessLevel)) {
      throw invalid('default_access_level', 'invalid_choice', '`default_access_level` must be 21 (view) or 37 (edit).')
    }
    // Read-only for everyone else.
    const pluginsAccessLevel = actor.isStaff ? body.plugins_access_level : undefined
    if (pluginsAccessLevel !== undefined && !pluginsAccessLevels.includes(pluginsAccessLevel)) {
      throw invalid('plugins_access_level', 'invalid_choice', '`plugins_access_level` must be 0, 3, 6 or 9.')
    }
    return database.transaction(async tx => {
      const requiresSecondFactor = body.requires_second_factor
      if (requiresSecondFactor) await requireOwnFactor(tx, actor)
      const patch = { name: body.name, pluginsAccessLevel, defaultAccessLevel, requiresSecondFactor, updatedAt: now() }
      const stored = await tx.organizations.find(organization.id)
      await tx.organizations.update(organization.id, patch)
      const changed = await tx.organizations.find(organization.id)
      if (!changed) throw missing('Organization')
      await announce(tx, changed)
      const fields = { before: auditedFields(stored ?? organization), after: auditedFields(changed) }
      recordOrganization(tx, actor, changed, { activity: 'updated', ...fields }, now())
      return toWire(tx, actor, changed)
    })
  })

  serve(r.remove, async ({ actor, organization }) => {
    requireLevel(actor, organization.id, ownerLevel, 'delete it')
    await database.transaction(async tx => {
      const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
      const { items } = await tx.projects.list({ organizationIds: [organization.id] }, all)
      for (const { id } of items) await tx.projects.remove(id)
      await tx.organizations.remove(organization.id)
      await announce(tx, organization)
      recordOrganization(tx, actor, organization, { activity: 'deleted', before: auditedFields(organization) }, now())
    })
    onDeleted()
    return undefined
  })

  serve(r.listMembers, async ({ organization, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.organizations.listMembers(organization.id, window))
    return pageBody(page, window, url, memberToWire)
  })

  serve(r.updateMember, async ({ actor, organization, params, body }) =>
    memberToWire(
      await database.transaction(tx => changeLevel(tx, actor, organization, params.user_uuid, body.level, now())),
    ),
  )

  serve(r.removeMember, async ({ actor, organization, params }) => {
    await database.transaction(tx => removeMember(tx, actor, organization, params.user_uuid, now()))
    return answer({ status: 204 })
  })

  serve(r.listInvites, async ({ actor, organization, query, url }) => {
    requireLevel(actor, organization.id, adminLevel, 'list invitations')
    const window = readWindow(query)
    const page = await database.read(tx => tx.organizations.listInvites(organization.id, window))
    return pageBody(page, window, url, invite => inviteToWire(invite, now()))
  })

  serve(r.createInvite, async ({ actor, organization, body }) => {
    const input = {
      targetEmail: body.target_email,
      firstName: body.first_name ?? '',
      level: body.level ?? memberLevel,
    }
    const { invite, token } = await database.transaction(tx => createInvite(tx, actor, organization, input, now()))
    return newInviteToWire(invite, token, now())
  })

  serve(r.removeInvite, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, 'withdraw invitations')
    await database.transaction(async tx => {
      const invite = await tx.organizations.findInvite(organization.id, params.invite_id)
      if (!invite) throw missing('Invitation')
      await tx.organizations.removeInvite(invite.id)
      recordInvite(tx, actor, invite, 'deleted', now())
      await announceAccess(tx, invite, invite.id, now())
    })
    return answer({ status: 204 })
  })

  serve(routes.session.readInvite, ({ params }) =>
    database.read(async tx => {
      const invite = await getOpenInvite(tx, params.token, now())
      const organization = await tx.organizations.find(invite.organizationId)
      return {
        target_email: invite.targetEmail,
        first_name: invite.firstName,
        organization_name: organization?.name ?? '',
      }
    }),
  )

  serve(routes.session.signup, async ({ params, body, headers, clientAddress, origin: request }) => {
    const origin = { userAgent: headers['user-agent'] ?? '', address: clientAddress, request }
    await database.read(tx => getOpenInvite(tx, params.token, now()))
    const person = { firstName: body.first_name, passwordHash: await passwords.hash(body.password) }
    return sessionToWire(
      await database.transaction(async tx =>
        openSession(
          tx,
          await acceptInvite(tx, params.token, person, now(), request),
          { method: 'password', origin },
          now(),
        ),
      ),
    )
  })

  serve(routes.session.join, async ({ params, actor }) => {
    await database.transaction(tx => joinByInvite(tx, actor, params.token, now()))
    return answer({ status: 204 })
  })

  const announce = (tx: Stores, organization: Organization): Promise<void> =>
    tx.changes.append({
      topic: 'identity',
      organizationId: organization.id,
      projectId: null,
      entityId: organization.id,
      at: now(),
    })
}

const auditedFields = ({ name, pluginsAccessLevel, defaultAccessLevel, requiresSecondFactor }: Organization) => ({
  name,
  plugins_access_level: pluginsAccessLevel,
  default_access_level: defaultAccessLevel,
  requires_second_factor: requiresSecondFactor,
})

const recordOrganization = (
  tx: Stores,
  actor: Actor,
  { id, name }: Organization,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void => recordAudit(tx, actor, { organizationId: id }, { scope: 'Organization', itemId: id, name, ...record }, now)

/** So that no one locks themselves out. Accounts without a password sign in elsewhere. */
async function requireOwnFactor(tx: Stores, { user }: Actor): Promise<void> {
  const account = await tx.identity.findAccount(user.id)
  if (account?.passwordHash === null || (await tx.secondFactors.list(user.id)).length > 0) return
  throw invalid('requires_second_factor', 'invalid_input', 'Set up a second factor for your own account first.')
}

const projectsOf = async (tx: Stores, actor: Actor) =>
  (await tx.projects.list(visibleProjects(actor), { limit: 1000, offset: 0 })).items

const toWire = async (tx: Stores, actor: Actor, organization: Organization) =>
  organizationToWire(organization, actor, await projectsOf(tx, actor))
