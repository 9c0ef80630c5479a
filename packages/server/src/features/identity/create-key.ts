import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, levelIn, levelInProject } from '../../tenancy.ts'
import { type ApiKey, checkScopes, keysPerUserMax } from './api-key.ts'
import { hashSecret, maskSecret, newId, newSecret } from './secret.ts'

export interface KeyFields {
  readonly label: string
  readonly scopes: readonly string[]
  readonly projectIds: readonly number[]
  readonly organizationIds: readonly string[]
  readonly expiresAt: Instant | null
}

/** Answers the key with its value, which is never seen again. Raises `invalid` as `checkKeyFields` does. */
export async function createKey(
  tx: Stores,
  actor: Actor,
  fields: KeyFields,
  now: Instant,
): Promise<{ key: ApiKey; value: string }> {
  await checkKeyFields(tx, actor, fields, now)
  if ((await tx.identity.listKeys(actor.user.id)).length >= keysPerUserMax) {
    throw invalid(null, 'invalid_input', `You have ${keysPerUserMax} keys already. Revoke one that is no longer used.`)
  }
  return storeNewKey(tx, actor.user.id, fields, now)
}

/** Without an asker (the command line) every scope and restriction is allowed. */
export async function storeNewKey(
  tx: Stores,
  userId: number,
  fields: KeyFields,
  now: Instant,
  value: string = newSecret('phx_'),
): Promise<{ key: ApiKey; value: string }> {
  const key: ApiKey = {
    id: newId(),
    userId,
    ...fields,
    hash: hashSecret(value),
    mask: maskSecret(value),
    isSession: false,
    createdAt: now,
    lastUsedAt: null,
  }
  await tx.identity.createKey(key)
  return { key, value }
}

/** Nobody can make a key that sees or may do more than the key that asks. */
export async function checkKeyFields(tx: Stores, actor: Actor, fields: KeyFields, now: Instant): Promise<void> {
  checkScopes(fields.scopes, actor)
  for (const id of fields.organizationIds) {
    if (levelIn(actor, id) === undefined) {
      throw invalid('scoped_organizations', 'does_not_exist', `You are not in an organization ${id}.`)
    }
  }
  for (const id of fields.projectIds) {
    const project = await tx.projects.find(id)
    if (!project || levelInProject(actor, project) === undefined) {
      throw invalid('scoped_teams', 'does_not_exist', `There is no project ${id} that you can see.`)
    }
  }
  const isWider =
    (actor.key.projectIds.length > 0 || actor.key.organizationIds.length > 0) &&
    fields.projectIds.length === 0 &&
    fields.organizationIds.length === 0
  if (isWider) {
    throw invalid('scoped_teams', 'required', 'The key you use is restricted; restrict the new one as well.')
  }
  if (fields.expiresAt !== null && fields.expiresAt <= now) {
    throw invalid('expires_at', 'invalid_input', 'The key would have expired already.')
  }
}
