import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Organization } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { expiryLimit } from '../identity/create-key.ts'
import { hashSecret, maskSecret, newSecret, newUuid } from '../identity/secret.ts'
import { closeServiceAccount, createServiceAccount } from '../identity/service-account.ts'
import { type ScimToken, scimTokensMax } from './scim-token.ts'

/**
 * With an account of its own, to which the accounts that it provisions are tied: its creator cannot approve with them. As an admin it
 * cannot remove the owner or appoint one.
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
  const account = await createServiceAccount(
    tx,
    actor,
    { kind: 'scim_token', name: `SCIM: ${label}`, organizationId: organization.id, level: adminLevel },
    now,
  )
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
  record(tx, actor, token, { activity: 'created', after: shown(token) }, now)
  return { token, value }
}

export async function removeScimToken(tx: Stores, actor: Actor, token: ScimToken, now: Instant): Promise<void> {
  await tx.scimTokens.remove(token.id)
  await closeServiceAccount(tx, token.organizationId, token.userId, now)
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
