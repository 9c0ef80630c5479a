import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { User } from '../../../tenancy.ts'
import { sessionHours } from '../api-key.ts'
import { forgetFirstCredentials } from '../first-start/first-credentials.ts'
import { hashSecret, maskSecret, newId, newSecret } from '../secret.ts'

export interface Session {
  readonly user: User
  readonly key: string
  readonly expiresAt: Instant
}

/** A sign-in is a key with every scope that expires. */
export async function openSession(tx: Stores, user: User, now: Instant): Promise<Session> {
  const key = newSecret('phx_')
  const expiresAt = plusMilliseconds(now, sessionHours * 60 * 60 * 1000)
  await tx.identity.removeKeysExpiredBefore(now)
  await forgetFirstCredentials(tx)
  await tx.identity.createKey({
    id: newId(),
    userId: user.id,
    label: 'Sign-in',
    hash: hashSecret(key),
    mask: maskSecret(key),
    scopes: ['*'],
    projectIds: [],
    organizationIds: [],
    isSession: true,
    createdAt: now,
    lastUsedAt: now,
    expiresAt,
  })
  return { user, key, expiresAt }
}
