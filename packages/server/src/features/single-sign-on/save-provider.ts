import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, isLevel, type Organization, ownerLevel } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { hashSecret, newUuid } from '../identity/secret.ts'
import { type IdentityProvider, type ProviderPatch, providersPerOrganizationMax } from './identity-provider.ts'

/** What the owner decides about a provider; the secret is sealed. */
export type ProviderContent = Omit<
  IdentityProvider,
  'id' | 'organizationId' | 'problem' | 'lastSignInAt' | 'createdAt' | 'updatedAt'
>

/** Raises `invalid`. */
export async function createProvider(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  content: ProviderContent,
  now: Instant,
): Promise<IdentityProvider> {
  if ((await tx.identityProviders.list(organization.id)).length >= providersPerOrganizationMax) {
    throw invalid(
      null,
      'limit_reached',
      `An organization can have at most ${providersPerOrganizationMax} identity providers.`,
    )
  }
  const provider: IdentityProvider = {
    ...content,
    id: newUuid(),
    organizationId: organization.id,
    problem: null,
    lastSignInAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await checkRights(tx, provider)
  await tx.identityProviders.create(provider)
  await tx.identityProviders.recordEditor(provider.id, actor.user.id)
  record(tx, actor, provider, { activity: 'created', after: shownFields(provider) }, now)
  return provider
}

/** Changes the fields that are sent. Subjects of another issuer are other people, so a new issuer unlinks all accounts. */
export async function updateProvider(
  tx: Stores,
  actor: Actor,
  stored: IdentityProvider,
  patch: ProviderPatch,
  now: Instant,
): Promise<IdentityProvider> {
  await tx.identityProviders.update(stored.id, { ...patch, updatedAt: now })
  await tx.identityProviders.recordEditor(stored.id, actor.user.id)
  const saved = await getProvider(tx, stored.organizationId, stored.id)
  await checkRights(tx, saved)
  if (!saved.enabled) await requireAnotherProvider(tx, saved)
  if (saved.issuer !== stored.issuer) await tx.identityProviders.unlink({ providerId: stored.id })
  const fields = { before: shownFields(stored), after: shownFields(saved) }
  record(tx, actor, saved, { activity: 'updated', ...fields }, now)
  return saved
}

/** Ends the sessions that were opened with it. */
export async function removeProvider(tx: Stores, actor: Actor, stored: IdentityProvider, now: Instant): Promise<void> {
  await requireAnotherProvider(tx, stored)
  await tx.identityProviders.remove(stored.id)
  await announceIdentity(tx, actor.user.id, now, stored.organizationId)
  record(tx, actor, stored, { activity: 'deleted', before: shownFields(stored) }, now)
}

/** Raises `missing`. */
export async function getProvider(tx: Stores, organizationId: string, providerId: string): Promise<IdentityProvider> {
  const provider = await tx.identityProviders.find(providerId)
  if (provider?.organizationId !== organizationId) throw missing('Identity provider')
  return provider
}

/** While single sign-on is required, one provider stays usable. */
async function requireAnotherProvider(tx: Stores, { id, organizationId }: IdentityProvider): Promise<void> {
  if (!(await tx.organizations.requiresSingleSignOn(organizationId))) return
  const providers = await tx.identityProviders.list(organizationId)
  if (providers.some(each => each.enabled && each.id !== id)) return
  throw invalid(
    null,
    'invalid_input',
    'This is the only enabled provider while single sign-on is required. Turn the requirement off first.',
  )
}

async function checkRights(tx: Stores, { organizationId, groupMappings, defaultLevel }: IdentityProvider) {
  const grantable = (level: number) => isLevel(level) && level < ownerLevel
  if (!grantable(defaultLevel)) throw wrongLevel('default_level')
  const roleIds = groupMappings.flatMap(({ roleId }) => (roleId === null ? [] : [roleId]))
  const roles = await tx.roles.findAll([...new Set(roleIds)])
  for (const { group, level, roleId } of groupMappings) {
    if (level === null && roleId === null) {
      throw invalid(
        'group_mappings',
        'required',
        `\`group_mappings\` needs \`level\` or \`role_id\` for "${group.slice(0, 40)}".`,
      )
    }
    if (level !== null && !grantable(level)) throw wrongLevel('group_mappings')
    if (roleId !== null && !roles.some(role => role.id === roleId && role.organizationId === organizationId)) {
      throw invalid(
        'group_mappings',
        'does_not_exist',
        `\`group_mappings\` names a role that does not exist: ${roleId}.`,
      )
    }
  }
}

const wrongLevel = (field: string) =>
  invalid(field, 'invalid_choice', `\`${field}\` has a level that cannot be granted. Use one below the owner.`)

/** Of the secret only whether there is one, and that it was replaced. */
const shownFields = ({ clientSecret, problem, lastSignInAt, updatedAt, ...shown }: IdentityProvider) => ({
  ...shown,
  client_secret: clientSecret === null ? null : hashSecret(clientSecret).slice(0, 8),
})

const record = (
  tx: Stores,
  actor: Actor,
  { id, organizationId, name }: IdentityProvider,
  fields: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void => recordAudit(tx, actor, { organizationId }, { scope: 'IdentityProvider', itemId: id, name, ...fields }, now)
