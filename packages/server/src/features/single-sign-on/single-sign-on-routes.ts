import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { plusMilliseconds } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import { createRateLimiter } from '../../overload/rate-limit.ts'
import { invalid, missing } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { sessionToWire } from '../identity/api-key-resource.ts'
import { hashSecret } from '../identity/secret.ts'
import { recordSignIn } from '../identity/sign-in/record-sign-in.ts'
import { requireSameOrigin } from '../identity/sign-in/sign-in-cookie.ts'
import { attemptExpired, finishSignIn } from './finish-sign-in.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { redirectUriOf } from './identity-provider-resource.ts'
import type { LogoutToken, ProviderClient } from './provider-client.ts'
import { attemptCookie, clearedAttemptCookie, newAttempt, readAttempt } from './sign-in-attempt.ts'

interface Deps extends RouteDeps {
  readonly secretBox: SecretBox
  readonly client: ProviderClient
  readonly originOf: (url: URL) => string
}

const logoutTokenBytesMax = 64 * 1024
/** Longer than a logout token is accepted. */
const replayMilliseconds = 15 * 60_000
const recordedRefusalsPerMinute = 30

/** Serves the sign-in with a provider and the logout by it. */
export function serveSingleSignOn(serve: ServeRoute, deps: Deps): void {
  const { database, secretBox, client, originOf, now } = deps
  const r = routes.singleSignOn
  const refusals = createRateLimiter(recordedRefusalsPerMinute)

  serve(r.listProviders, async ({ query }) => {
    const { domain, organization } = query
    if (!domain && !organization) return []
    const providers = await database.read(tx =>
      domain
        ? tx.identityProviders.listForDomain(domain.toLowerCase().slice(0, 253))
        : tx.identityProviders.listForSlug((organization ?? '').slice(0, 200)),
    )
    return providers.map(({ id, name }) => ({ id, name }))
  })

  serve(r.start, async ({ params, body, headers, url }) => {
    requireSameOrigin(headers, url)
    const provider = await getEnabled(params.provider_id)
    const attempt = newAttempt(provider.id, redirectUriOf(originOf(url), provider.id), body.next)
    const address = await client.authorizationUrl(provider, attempt)
    return answer({
      status: 200,
      body: { redirect_url: address.href },
      headers: { 'set-cookie': attemptCookie(attempt, secretBox, url) },
    })
  })

  serve(r.finish, async ({ params, body, headers, clientAddress, url, origin: request }) => {
    requireSameOrigin(headers, url)
    const provider = await getEnabled(params.provider_id)
    const attempt = readAttempt(headers.cookie, secretBox)
    if (attempt?.providerId !== provider.id) throw attemptExpired()
    const origin = { userAgent: headers['user-agent'] ?? '', address: clientAddress }
    const { parameters } = body
    const session = await finishSignIn({ ...deps, refusals }, { provider, attempt, parameters, origin, request })
    return answer({
      status: 200,
      body: { ...sessionToWire(session), next: attempt.next },
      headers: { 'set-cookie': clearedAttemptCookie(url) },
    })
  })

  serve(r.backchannelLogout, async ({ params, raw, headers, origin }) => {
    const provider = await getEnabled(params.provider_id)
    const token = await client.verifyLogoutToken(provider, readLogoutToken(raw, headers['content-type']))
    await endSessions(provider, token, origin)
    return answer({ status: 200, headers: { 'cache-control': 'no-store' } })
  })

  async function getEnabled(providerId: string): Promise<IdentityProvider> {
    const provider = await database.read(tx => tx.identityProviders.find(providerId))
    if (!provider?.enabled) throw missing('Identity provider')
    return provider
  }

  async function endSessions(provider: IdentityProvider, token: LogoutToken, origin: Origin): Promise<void> {
    await database.transaction(async tx => {
      const hash = hashSecret(`${provider.id} ${token.id}`)
      if (!(await tx.identityProviders.useToken(hash, plusMilliseconds(now(), replayMilliseconds), now()))) {
        throw invalid('logout_token', 'invalid_input', '`logout_token` was used before.')
      }
      const { subject, sessionId } = token
      const userId = subject === undefined ? undefined : await tx.identityProviders.findLinkedUser(provider.id, subject)
      if (subject !== undefined && userId === undefined) return
      const users = await tx.signIns.removeOfProvider(provider.id, { userId, sessionId })
      for (const id of users) {
        await announceIdentity(tx, id, now())
        const account = await tx.identity.findAccount(id)
        const record = { activity: 'signed_out', signInId: '', reason: 'back-channel logout', origin } as const
        if (account) await recordSignIn(tx, account, record, now())
      }
    })
  }
}

/** Raises `invalid`. */
function readLogoutToken(raw: Buffer | undefined, contentType: string | undefined): string {
  const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '')
  const token =
    isForm && raw && raw.length <= logoutTokenBytesMax
      ? new URLSearchParams(raw.toString('utf8')).get('logout_token')
      : null
  if (!token) throw invalid('logout_token', 'required', '`logout_token` is required, in a form-encoded body.')
  return token
}
