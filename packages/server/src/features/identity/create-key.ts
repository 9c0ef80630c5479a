import { type Instant, parseInstant, plusMilliseconds } from '../../instant.ts'
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

/** Returns the key with its value, which only this response contains. Raises `invalid` as `checkKeyFields` does. */
export async function createKey(
  tx: Stores,
  actor: Actor,
  fields: KeyFields,
  now: Instant,
): Promise<{ key: ApiKey; value: string }> {
  await checkKeyFields(tx, actor, fields, now)
  if ((await tx.identity.listKeys(actor.user.id)).length >= keysPerUserMax) {
    throw invalid(null, 'invalid_input', `You have the maximum of ${keysPerUserMax} keys. Revoke an unused one first.`)
  }
  return storeNewKey(tx, actor.user.id, fields, now)
}

/** Stores the fields as they are: the command line may create any key. */
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

/** A key never gets more scopes, projects or time than the key that creates or changes it. */
export async function checkKeyFields(tx: Stores, actor: Actor, fields: KeyFields, now: Instant): Promise<void> {
  checkScopes(fields.scopes, actor)
  for (const id of fields.organizationIds) {
    if (levelIn(actor, id) === undefined) {
      throw invalid(
        'scoped_organizations',
        'does_not_exist',
        `\`scoped_organizations\` has an organization that this key cannot access.`,
      )
    }
  }
  for (const id of fields.projectIds) {
    const project = await tx.projects.find(id)
    if (!project || levelInProject(actor, project) === undefined) {
      throw invalid(
        'scoped_teams',
        'does_not_exist',
        `\`scoped_teams\` has a project that this key cannot access: ${id}.`,
      )
    }
  }
  const isUnrestricted = fields.projectIds.length === 0 && fields.organizationIds.length === 0
  if (isUnrestricted && (await isRestricted(tx, actor))) {
    throw invalid(
      'scoped_teams',
      'required',
      '`scoped_teams` or `scoped_organizations` is required, because the key of this request is restricted.',
    )
  }
  if (fields.expiresAt !== null && fields.expiresAt <= now) {
    throw invalid('expires_at', 'invalid_input', '`expires_at` must be in the future.')
  }
  const limit = expiryLimit(actor)
  if (limit !== null && (fields.expiresAt === null || fields.expiresAt > limit)) {
    throw invalid(
      'expires_at',
      'invalid_input',
      `\`expires_at\` must be at most ${limit}, when the key of this request expires.`,
    )
  }
}

/** Also a session with a password while one of the user's organizations requires single sign-on: it must not create the way around. */
async function isRestricted(tx: Stores, { user, key, levels }: Actor): Promise<boolean> {
  if (key.projectIds.length > 0 || key.organizationIds.length > 0) return true
  return (await tx.identity.listOrganizationIds(user.id)).some(id => !levels.has(id))
}

/** Undefined leaves the expiry as it is. */
export function readExpiry(text: string | null | undefined): Instant | null | undefined {
  if (text === undefined || text === null) return text
  const instant = parseInstant(text)
  if (instant === undefined) throw invalid('expires_at', 'invalid_input', '`expires_at` must be an ISO 8601 date-time.')
  return instant
}

const keyDaysDefault = 90

/** When a new key expires if the request does not say it. */
export function defaultExpiry(actor: Actor, now: Instant): Instant {
  const usual = plusMilliseconds(now, keyDaysDefault * 24 * 60 * 60 * 1000)
  const limit = expiryLimit(actor)
  return limit !== null && limit < usual ? limit : usual
}

/** When keys that the actor creates or changes must expire; null when they need not. A sign-in has proven the password. */
export const expiryLimit = ({ key }: Actor): Instant | null => (key.isSession ? null : key.expiresAt)
