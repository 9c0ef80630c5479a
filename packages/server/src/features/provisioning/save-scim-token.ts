import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Organization } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { expiryLimit } from '../identity/create-key.ts'
import { hashSecret, maskSecret, newSecret, newUuid } from '../identity/secret.ts'
import { type ScimToken, scimTokensMax } from './scim-token.ts'

/**
 * With an account of its own, so that what it changes is attributed to it. The accounts that it provisions are tied to it, and it to its
 * creator, who therefore cannot approve with them. As an admin it cannot remove the owner or appoint one.
 */
export async function createScimToken(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { label, expiresAt }: Pick<ScimToken, 'label' | 'expiresAt'>,
  now: Instant,
): Promise<{ token: ScimToken; value: string }> {
  checkExpiry(actor, expiresAt, now)
  await tx.organizations.lockMembers(organization.id)
  if ((await tx.scimTokens.list(organization.id)).length >= scimTokensMax) {
    throw invalid(null, 'limit_reached', `An organization can have at most ${scimTokensMax} SCIM tokens.`)
  }
  const uuid = newUuid()
  const account = await tx.identity.createAccount({
    uuid,
    distinctId: uuid,
    firstName: `SCIM: ${label}`,
    email: `${uuid}@scim.invalid`,
    isEmailVerified: false,
    passwordHash: null,
    isActive: true,
    isStaff: false,
    isService: true,
    currentOrganizationId: organization.id,
    currentProjectId: null,
    dateJoined: now,
  })
  const membership = { id: newUuid(), organizationId: organization.id, userId: account.id }
  await tx.organizations.addMember({ ...membership, level: adminLevel, joinedAt: now, updatedAt: now })
  await tx.accountTies.tie(account.id, actor.user.id, 'scim_token', now)
  const value = newSecret('scim_')
  const token: ScimToken = {
    id: newUuid(),
    organizationId: organization.id,
    userId: account.id,
    label,
    hash: hashSecret(value),
    mask: maskSecret(value),
    createdBy: actor.user,
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
  }
  await tx.scimTokens.create(token)
  await announceIdentity(tx, account.id, now, organization.id)
  record(tx, actor, token, { activity: 'created', after: shown(token) }, now)
  return { token, value }
}

/** The account stays as the author of what the token changed. */
export async function removeScimToken(tx: Stores, actor: Actor, token: ScimToken, now: Instant): Promise<void> {
  await tx.scimTokens.remove(token.id)
  await tx.organizations.removeMember(token.organizationId, token.userId)
  await tx.identity.updateAccount(token.userId, { isActive: false })
  await announceIdentity(tx, token.userId, now, token.organizationId)
  record(tx, actor, token, { activity: 'deleted', before: shown(token) }, now)
}

function checkExpiry(actor: Actor, expiresAt: Instant | null, now: Instant): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid('expires_at', 'invalid_input', '`expires_at` must be in the future.')
  }
  const limit = expiryLimit(actor)
  if (limit !== null && (expiresAt === null || expiresAt > limit)) {
    throw invalid(
      'expires_at',
      'invalid_input',
      `\`expires_at\` must be at most ${limit}, when the key of this request expires.`,
    )
  }
}

const shown = ({ label, expiresAt }: ScimToken) => ({ label, expires_at: expiresAt })

const record = (
  tx: Stores,
  actor: Actor,
  { id, organizationId, label }: ScimToken,
  change: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void => recordAudit(tx, actor, { organizationId }, { scope: 'ScimToken', itemId: id, name: label, ...change }, now)
