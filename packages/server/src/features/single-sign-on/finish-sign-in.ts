import { type Instant, instantOf, plusMilliseconds } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import type { RateLimiter } from '../../overload/rate-limit.ts'
import { Problem } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Database, Stores } from '../../stores.ts'
import { hashSecret } from '../identity/secret.ts'
import { openSession, type Session, type SignInOrigin } from '../identity/sign-in/open-session.ts'
import { applyGroups } from './apply-groups.ts'
import { type IdentityProvider, idTokenPurpose } from './identity-provider.ts'
import { reasonOf } from './issuers.ts'
import { linkAccount, refused } from './link-account.ts'
import type { ProviderClient, ProviderIdentity } from './provider-client.ts'
import type { SignInAttempt } from './sign-in-attempt.ts'

interface Deps {
  readonly database: Database
  readonly client: ProviderClient
  /** By provider. Everyone can start a sign-in and have it refused: the audit log must not grow with each. */
  readonly refusals: RateLimiter
  readonly secretBox: SecretBox
  readonly now: () => Instant
}

export interface ProviderResponse {
  readonly provider: IdentityProvider
  readonly attempt: SignInAttempt
  /** The query string that the provider sent back. */
  readonly parameters: string
  readonly origin: SignInOrigin
  /** For the audit log. */
  readonly request: Origin
}

/** Each attempt works once, on whichever node. Raises `unauthenticated`, or `unavailable` when the provider is. */
export async function finishSignIn(
  { database, client, refusals, secretBox, now }: Deps,
  { provider, attempt, parameters, origin, request }: ProviderResponse,
): Promise<Session> {
  const callback = new URL(attempt.redirectUri)
  callback.search = parameters
  const states = callback.searchParams.getAll('state')
  if (states.length !== 1 || states[0] !== attempt.state) throw attemptExpired()
  const expiresAt = instantOf(new Date(attempt.expiresAt))
  const hash = hashSecret(attempt.state)
  if (!(await database.transaction(tx => tx.identityProviders.useToken(hash, expiresAt, now())))) {
    throw attemptExpired()
  }
  try {
    const identity = await client.redeem(provider, callback, attempt)
    return await database.transaction(async tx => {
      const account = await linkAccount(tx, provider, identity, now())
      const author = { user: account, key: { label: 'Sign-in' }, origin: request }
      if (identity.groups) await applyGroups(tx, provider, author, identity.groups, now())
      const problem = identity.groups ? null : missingGroups(provider)
      await tx.identityProviders.update(provider.id, { problem, lastSignInAt: now() })
      const providerSession = sessionOf(provider, identity, secretBox, now())
      return openSession(
        tx,
        account,
        { method: 'single_sign_on', origin: { ...origin, request }, provider: providerSession },
        now(),
      )
    })
  } catch (error) {
    if (isWithin(refusals, provider.id)) await recordProblem(database, provider, error, request, now())
    throw error
  }
}

function isWithin(limiter: RateLimiter, key: string): boolean {
  try {
    limiter.take(key)
    return true
  } catch {
    return false
  }
}

export const attemptExpired = (): Problem =>
  refused('This sign-in has expired or was started in another browser. Start again.', 'sso_expired')

const missingGroups = ({ groupClaim, groupMappings }: IdentityProvider): string | null =>
  groupMappings.length === 0
    ? null
    : `The claim \`${groupClaim}\` was missing at the last sign-in, so levels and roles were left unchanged.`

const hourMilliseconds = 60 * 60 * 1000
const idTokenCharactersMax = 16_384

const sessionOf = (
  provider: IdentityProvider,
  { sessionId, sessionExpiresAt, idToken }: ProviderIdentity,
  secretBox: SecretBox,
  now: Instant,
) => {
  const limit = plusMilliseconds(now, provider.sessionHours * hourMilliseconds)
  return {
    id: provider.id,
    organizationId: provider.organizationId,
    sessionId,
    idToken: idToken.length > idTokenCharactersMax ? null : secretBox.seal(idToken, idTokenPurpose),
    expiresAt: sessionExpiresAt !== undefined && sessionExpiresAt < limit ? sessionExpiresAt : limit,
  }
}

/** Shown to admins. The person who signs in gets less detail. */
async function recordProblem(
  database: Database,
  { id, organizationId, name }: IdentityProvider,
  error: unknown,
  origin: Origin,
  now: Instant,
): Promise<void> {
  if (!(error instanceof Problem)) return
  const reason = (error.cause === undefined ? error.message : reasonOf(error)).slice(0, 250)
  const refusal = {
    organizationId,
    projectId: null,
    scope: 'SignIn',
    itemId: '',
    activity: 'refused',
    user: null,
    keyLabel: null,
    detail: { name, changes: [], trigger: { reason } },
    origin,
    createdAt: now,
  } as const
  const record = async (tx: Stores) => {
    await tx.identityProviders.update(id, { problem: `The last sign-in was refused: ${reason}` })
    tx.audit.record([refusal])
  }
  await database.transaction(record).catch(() => {})
}
