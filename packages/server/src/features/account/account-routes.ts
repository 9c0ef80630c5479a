import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, levelIn, levelInProject } from '../../tenancy.ts'
import { type AuditRecord, organizationsOf, recordAudit } from '../audit/record-audit.ts'
import type { Account } from '../identity/account.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { type ApiKey, canonicalScopes } from '../identity/api-key.ts'
import { keyToWire } from '../identity/api-key-resource.ts'
import { currentOrganizationId, visibleProjects } from '../identity/authenticator.ts'
import { checkKeyFields, createKey, defaultExpiry, readExpiry } from '../identity/create-key.ts'
import { checkedEmail } from '../identity/email.ts'
import { requireProfileByHand } from '../identity/managed-account.ts'
import type { LoginThrottle } from '../identity/sign-in/login-throttle.ts'
import type { Passwords } from '../identity/sign-in/password.ts'
import { type ProviderLogout, serveSignIns } from '../identity/sign-in/sign-in-routes.ts'
import { userToWire } from '../identity/user-resource.ts'
import { organizationToWire } from '../organizations/organization-resource.ts'
import { projectToWire } from '../projects/project-resource.ts'
import { domainOf } from '../single-sign-on/identity-provider.ts'

interface Deps extends RouteDeps {
  readonly passwords: Passwords
  readonly throttle: LoginThrottle
  readonly providerLogout: ProviderLogout
}

export function serveIdentity(serve: ServeRoute, { database, passwords, throttle, providerLogout, now }: Deps): void {
  serveSignIns(serve, { database, now, providerLogout })

  serve(routes.users.getMe, ({ actor }) => database.read(tx => meToWire(tx, actor)))

  serve(routes.users.updateMe, async ({ actor, body, clientAddress }) => {
    const stored = await database.read(tx => tx.identity.findAccount(actor.user.id))
    if (!stored) throw missing('User')
    const sentEmail = body.email === undefined ? undefined : checkedEmail(body.email, 'email').toLowerCase()
    const email = sentEmail === stored.email ? undefined : sentEmail
    if (email !== undefined || body.password !== undefined) {
      await requireCurrentPassword(stored, body.current_password, clientAddress)
    }
    const passwordHash = body.password === undefined ? undefined : await passwords.hash(body.password)
    return database.transaction(async tx => {
      if (email !== undefined) {
        await requireProfileByHand(tx, actor.user.id, 'email', now())
        await refuseManagedAddress(tx, email)
      }
      if (body.first_name !== undefined && body.first_name !== stored.firstName) {
        await requireProfileByHand(tx, actor.user.id, 'first_name', now())
      }
      const place = await newPlace(tx, actor, body.set_current_organization, body.set_current_team)
      await tx.identity.updateAccount(actor.user.id, {
        ...(body.first_name !== undefined && { firstName: body.first_name }),
        ...(email !== undefined && { email, isEmailVerified: false }),
        ...(passwordHash !== undefined && { passwordHash }),
        ...(body.change_request_emails !== undefined && { hasRequestEmails: body.change_request_emails }),
        ...(body.language !== undefined && { language: body.language }),
        ...place,
      })
      if (passwordHash !== undefined) await tx.identity.removeKeys(actor.user.id, 'sessions')
      const changed = await tx.identity.findAccount(actor.user.id)
      const fields = { before: auditedAccount(stored), after: auditedAccount(changed ?? stored) }
      const activity = passwordHash === undefined ? 'updated' : 'password_changed'
      const record = { scope: 'Account', itemId: actor.user.uuid, name: stored.email, activity, ...fields } as const
      recordAudit(tx, actor, organizationsOf(actor), record, now())
      await announceIdentity(tx, actor.user.id, now())
      return meToWire(tx, actor)
    })
  })

  /** Wrong guesses count as failed sign-ins: a stolen key must not test passwords faster than a stranger. */
  async function requireCurrentPassword(account: Account, password: string | undefined, address: string) {
    if (password === undefined) {
      throw invalid('current_password', 'required', '`current_password` is required to change `password` or `email`.')
    }
    const right = await throttle.guess(account.email, address, async () =>
      (await passwords.verify(password, account.passwordHash)) ? account : undefined,
    )
    if (!right) throw invalid('current_password', 'invalid_input', '`current_password` is wrong.')
  }

  serve(routes.apiKeys.list, async ({ actor }) => {
    const keys = await database.read(async tx => {
      const own = await tx.identity.listKeys(actor.user.id)
      const areVisible = await Promise.all(own.map(key => isWithinReach(tx, actor, key)))
      return own.filter((_, index) => areVisible[index])
    })
    return keys.map(key => keyToWire(key))
  })

  serve(routes.apiKeys.create, async ({ actor, body }) => {
    const expiresAt = readExpiry(body.expires_at)
    const fields = {
      label: body.label,
      scopes: canonicalScopes(body.scopes ?? actor.key.scopes),
      projectIds: body.scoped_teams ?? actor.key.projectIds,
      organizationIds: body.scoped_organizations ?? actor.key.organizationIds,
      expiresAt: expiresAt === undefined ? defaultExpiry(actor, now()) : expiresAt,
    }
    const { key, value } = await database.transaction(async tx => {
      // Nodes look up an unknown key; edges cannot, so every new key is published.
      await announceIdentity(tx, actor.user.id, now())
      const created = await createKey(tx, actor, fields, now())
      recordKey(tx, actor, created.key, { activity: 'created', after: auditedKey(created.key) }, now())
      return created
    })
    return keyToWire(key, value)
  })

  serve(routes.apiKeys.get, ({ actor, params }) =>
    database.read(async tx => keyToWire(await ownKey(tx, actor, params.key_id))),
  )

  serve(routes.apiKeys.update, async ({ actor, params, body }) =>
    keyToWire(
      await database.transaction(async tx => {
        const stored = await ownKey(tx, actor, params.key_id)
        const { id } = stored
        await tx.identity.updateKey(id, {
          label: body.label,
          scopes: body.scopes,
          projectIds: body.scoped_teams,
          organizationIds: body.scoped_organizations,
          expiresAt: readExpiry(body.expires_at),
        })
        // Checked as it is after the write, which locks the row: two changes that are valid only alone cannot both commit.
        const key = await tx.identity.findKey(actor.user.id, id)
        if (!key) throw missing('Personal API key')
        await checkKeyFields(tx, actor, key, now())
        const fields = { before: auditedKey(stored), after: auditedKey(key) }
        recordKey(tx, actor, key, { activity: 'updated', ...fields }, now())
        await announceIdentity(tx, actor.user.id, now())
        return key
      }),
    ),
  )

  serve(routes.apiKeys.remove, ({ actor, params }) =>
    database.transaction(async tx => {
      const key = await ownKey(tx, actor, params.key_id)
      await tx.identity.removeKey(actor.user.id, key.id)
      recordKey(tx, actor, key, { activity: 'deleted', before: auditedKey(key) }, now())
      await announceIdentity(tx, actor.user.id, now())
      return answer({ status: 204 })
    }),
  )
}

const auditedAccount = ({ firstName, email, hasRequestEmails, language }: Account) => ({
  first_name: firstName,
  email,
  change_request_emails: hasRequestEmails,
  language,
})

const auditedKey = ({ label, scopes, projectIds, organizationIds, expiresAt }: ApiKey) => ({
  label,
  scopes,
  scoped_teams: projectIds,
  scoped_organizations: organizationIds,
  expires_at: expiresAt,
})

const recordKey = (
  tx: Stores,
  actor: Actor,
  { id, label }: ApiKey,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void => recordAudit(tx, actor, organizationsOf(actor), { scope: 'ApiKey', itemId: id, name: label, ...record }, now)

/** Raises `missing` for a sign-in as well: it cannot be read, extended or narrowed, only ended by signing out. */
async function ownKey(tx: Stores, actor: Actor, keyId: string): Promise<ApiKey> {
  const key = await tx.identity.findKey(actor.user.id, keyId === '@current' ? actor.key.id : keyId)
  if (!key || key.isSession || !(await isWithinReach(tx, actor, key))) throw missing('Personal API key')
  return key
}

/**
 * Whether a restricted key, such as a session with the provider of one organization, reaches anything that the other key does. What belongs
 * to other organizations alone is not its concern.
 */
async function isWithinReach(tx: Stores, actor: Actor, key: ApiKey): Promise<boolean> {
  if (actor.key.organizationIds.length === 0 && actor.key.projectIds.length === 0) return true
  if (key.organizationIds.length === 0 && key.projectIds.length === 0) return true
  if (key.organizationIds.some(id => levelIn(actor, id) !== undefined)) return true
  for (const id of key.projectIds) {
    const project = await tx.projects.find(id)
    if (project && levelInProject(actor, project) !== undefined) return true
  }
  return false
}

/** Otherwise a colleague's first single sign-on would be linked to the account that entered their address. */
async function refuseManagedAddress(tx: Stores, email: string): Promise<void> {
  if ((await tx.identityProviders.listDomainOwners(domainOf(email))).length === 0) return
  throw invalid('email', 'invalid_input', '`email` is of a domain that an organization manages. Ask for an invitation.')
}

/** The new current organization and project. Raises `invalid` for those that the actor cannot see. */
async function newPlace(tx: Stores, actor: Actor, organizationId: string | undefined, projectId: number | undefined) {
  if (organizationId !== undefined && levelIn(actor, organizationId) === undefined) {
    throw invalid(
      'set_current_organization',
      'does_not_exist',
      '`set_current_organization` is not one of your organizations.',
    )
  }
  if (projectId !== undefined) {
    const project = await tx.projects.find(projectId)
    const isFitting = project && levelInProject(actor, project) !== undefined
    if (!isFitting || (organizationId !== undefined && project.organizationId !== organizationId)) {
      throw invalid('set_current_team', 'does_not_exist', '`set_current_team` is not a project that you can see.')
    }
    return { currentOrganizationId: project.organizationId, currentProjectId: project.id }
  }
  if (organizationId === undefined) return {}
  const [first] = (await tx.projects.list({ organizationIds: [organizationId] }, { limit: 1, offset: 0 })).items
  return { currentOrganizationId: organizationId, currentProjectId: first?.id ?? null }
}

async function meToWire(tx: Stores, actor: Actor) {
  const account = await tx.identity.findAccount(actor.user.id)
  if (!account) throw missing('User')
  const here = {
    ...actor,
    currentOrganizationId: account.currentOrganizationId,
    currentProjectId: account.currentProjectId,
  }
  const organizationId = currentOrganizationId(here)
  const organization = organizationId === undefined ? undefined : await tx.organizations.find(organizationId)
  const visible = await tx.projects.list(visibleProjects(actor), { limit: 1000, offset: 0 })
  const project = visible.items.find(item => item.id === account.currentProjectId) ?? visible.items[0]
  const organizations = await tx.organizations.list([...actor.levels.keys()], { limit: 1000, offset: 0 })
  return {
    ...userToWire(account),
    date_joined: account.dateJoined,
    has_password: account.passwordHash !== null,
    is_staff: account.isStaff,
    change_request_emails: account.hasRequestEmails,
    language: account.language,
    needs_second_factor: actor.lacksSecondFactor ?? false,
    team: project ? projectToWire(project, actor) : null,
    organization: organization ? organizationToWire(organization, actor, visible.items) : null,
    organizations: organizations.items
      .filter(item => levelIn(actor, item.id) !== undefined)
      .map(item => ({
        id: item.id,
        name: item.name,
        slug: item.slug,
        membership_level: actor.levels.get(item.id) ?? 0,
        default_access_level: item.defaultAccessLevel,
      })),
  }
}
