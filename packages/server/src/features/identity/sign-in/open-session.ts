import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { type Origin, originOf } from '../../../origin.ts'
import type { Stores } from '../../../stores.ts'
import type { User } from '../../../tenancy.ts'
import { sessionHours } from '../api-key.ts'
import { forgetFirstCredentials } from '../first-start/first-credentials.ts'
import { hashSecret, maskSecret, newId, newSecret } from '../secret.ts'
import { recordSignIn } from './record-sign-in.ts'
import {
  keysPerSignInMax,
  rememberedDays,
  type SignInMethod,
  type SignInProvider,
  userAgentCharactersMax,
} from './sign-in.ts'

export interface Session {
  readonly user: User
  readonly key: string
  readonly expiresAt: Instant
}

/** The browser that signs in. */
export interface SignInOrigin {
  readonly userAgent: string
  readonly address: string
  /** For the audit log. */
  readonly request?: Origin
}

/** A session with an identity provider reaches its organization alone: others do not trust the provider. */
export interface ProviderSession extends SignInProvider {
  readonly organizationId: string
  /** When the session at the provider ends. */
  readonly expiresAt: Instant
}

export interface NewSession {
  readonly method: SignInMethod
  readonly origin: SignInOrigin
  /** A refresh token continues the sign-in after its key has expired. */
  readonly isRemembered?: boolean | undefined
  readonly provider?: ProviderSession
}

const hourMilliseconds = 60 * 60 * 1000

/** A sign-in is a key with every scope that expires. There is no other way to open one, whatever the method. */
export async function openSession(
  tx: Stores,
  user: User,
  { method, origin, isRemembered = false, provider }: NewSession,
  now: Instant,
): Promise<Session & { readonly refreshToken: string | undefined }> {
  await tx.identity.removeKeysExpiredBefore(now)
  await forgetFirstCredentials(tx)
  const refreshToken = isRemembered ? newSecret('') : undefined
  const signInId = newId()
  await tx.signIns.create({
    id: signInId,
    userId: user.id,
    refreshHash: refreshToken === undefined ? null : hashSecret(refreshToken),
    method,
    provenAt: now,
    userAgent: origin.userAgent.slice(0, userAgentCharactersMax),
    address: origin.address.slice(0, 100),
    createdAt: now,
    expiresAt:
      provider?.expiresAt ??
      plusMilliseconds(now, (isRemembered ? rememberedDays * 24 : sessionHours) * hourMilliseconds),
    provider: provider ?? null,
  })
  const request = origin.request ?? { ...originOf('signIn'), address: origin.address }
  await recordSignIn(tx, user, { activity: 'signed_in', signInId, method, origin: request }, now)
  return { ...(await createSessionKey(tx, user, signInId, now, provider)), refreshToken }
}

/** A new key for the sign-in of a refresh token; undefined when there is none or it has expired. */
export async function resumeSession(
  tx: Stores,
  refreshToken: string,
  origin: Origin,
  now: Instant,
): Promise<Session | undefined> {
  const signIn = await tx.signIns.findByRefreshHash(hashSecret(refreshToken))
  if (!signIn || signIn.expiresAt <= now) return undefined
  const account = await tx.identity.findAccount(signIn.userId)
  if (!account?.isActive) return undefined
  await tx.signIns.trimKeys(signIn.id, keysPerSignInMax - 1)
  await recordSignIn(tx, account, { activity: 'resumed', signInId: signIn.id, origin }, now)
  return createSessionKey(tx, account, signIn.id, now)
}

async function createSessionKey(
  tx: Stores,
  user: User,
  signInId: string,
  now: Instant,
  provider?: ProviderSession,
): Promise<Session> {
  const key = newSecret('phx_')
  const expiresAt = provider?.expiresAt ?? plusMilliseconds(now, sessionHours * hourMilliseconds)
  await tx.identity.createKey({
    id: newId(),
    userId: user.id,
    label: 'Sign-in',
    hash: hashSecret(key),
    mask: maskSecret(key),
    scopes: ['*'],
    projectIds: [],
    organizationIds: provider ? [provider.organizationId] : [],
    isSession: true,
    signInId,
    createdAt: now,
    lastUsedAt: now,
    expiresAt,
  })
  return { user, key, expiresAt }
}
