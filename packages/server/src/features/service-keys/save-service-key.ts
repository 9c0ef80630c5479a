import type { Instant } from '../../instant.ts'
import { forbidden, invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, isLevel, type Organization, ownerLevel, viewOnlyLevel } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { ServiceKey } from '../identity/api-key.ts'
import { checkKeyFields, type KeyFields, storeNewKey } from '../identity/create-key.ts'
import { closeServiceAccount, createServiceAccount } from '../identity/service-account.ts'

const serviceKeysMax = 100

export type NewServiceKey = Omit<KeyFields, 'organizationIds'> & { readonly level: number }

/** A key of an account without a person. */
export async function createServiceKey(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { level, ...input }: NewServiceKey,
  now: Instant,
): Promise<{ key: ServiceKey; value: string }> {
  if (!isLevel(level) || level < viewOnlyLevel || level === ownerLevel) {
    throw invalid('level', 'invalid_choice', '`level` must be 0 (view only), 1 (member) or 8 (admin).')
  }
  if (level > (actor.levels.get(organization.id) ?? viewOnlyLevel)) {
    throw forbidden('You cannot grant a level above your own.')
  }
  await requireOwnProjects(tx, organization, input.projectIds)
  // Without projects, the key is restricted to its organization.
  const fields = { ...input, organizationIds: input.projectIds.length === 0 ? [organization.id] : [] }
  await checkKeyFields(tx, actor, fields, now)
  if ((await tx.identity.listServiceKeys(organization.id)).length >= serviceKeysMax) {
    throw invalid(null, 'limit_reached', `An organization can have at most ${serviceKeysMax} service keys.`)
  }
  const [projectId] = input.projectIds
  const user = await createServiceAccount(
    tx,
    actor,
    { kind: 'service_key', name: input.label, organizationId: organization.id, projectId, level },
    now,
  )
  const { key, value } = await storeNewKey(tx, user.id, fields, now)
  const audited = { scope: 'ServiceKey', itemId: key.id, name: key.label, activity: 'created' } as const
  recordAudit(tx, actor, { organizationId: organization.id }, { ...audited, after: shown({ ...input, level }) }, now)
  return { key: { ...key, level, user, createdBy: actor.user }, value }
}

export async function removeServiceKey(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  key: ServiceKey,
  now: Instant,
): Promise<void> {
  const { user, level } = key
  if (level > (actor.levels.get(organization.id) ?? adminLevel)) throw forbidden('You cannot revoke a key above you.')
  await tx.identity.removeKeys(user.id, 'all')
  await closeServiceAccount(tx, organization.id, user.id, now)
  const audited = { scope: 'ServiceKey', itemId: key.id, name: key.label, activity: 'deleted' } as const
  recordAudit(tx, actor, { organizationId: organization.id }, { ...audited, before: shown(key) }, now)
}

async function requireOwnProjects(tx: Stores, organization: Organization, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    if ((await tx.projects.find(id))?.organizationId !== organization.id) {
      throw invalid('scoped_teams', 'does_not_exist', `\`scoped_teams\` has a project of no such id here: ${id}.`)
    }
  }
}

const shown = ({ label, scopes, projectIds, level, expiresAt }: NewServiceKey) => ({
  label,
  scopes,
  scoped_teams: projectIds,
  level,
  expires_at: expiresAt,
})
