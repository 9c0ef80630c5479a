import { type JWTPayload, jwtVerify } from 'jose'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  type ServerMetadata,
} from 'openid-client'
import { type Instant, instantOf } from '../../instant.ts'
import type { OutgoingFetch } from '../../outgoing/outgoing-fetch.ts'
import { Problem } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import { clientSecretPurpose, type IdentityProvider } from './identity-provider.ts'
import { type Issuers, isOutage, isPlainHttp, issuerUnavailable, reasonOf } from './issuers.ts'
import type { SignInAttempt } from './sign-in-attempt.ts'

/** Who signed in, as the provider asserts it. */
export interface ProviderIdentity {
  readonly subject: string
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly name: string
  /** Undefined when the claim is missing. */
  readonly groups: readonly string[] | undefined
  readonly sessionId: string | null
  /** When the session at the provider ends, if it says so. */
  readonly sessionExpiresAt: Instant | undefined
  readonly idToken: string
}

/** Which sessions a logout token ends. */
export interface LogoutToken {
  readonly id: string
  readonly subject: string | undefined
  readonly sessionId: string | undefined
}

export interface ProviderCheck {
  readonly isUsable: boolean
  readonly problems: readonly string[]
}

/** OpenID Connect with one provider. All requests go through the guarded client. */
export interface ProviderClient {
  /** Where the browser signs in. Raises `unavailable`. */
  authorizationUrl(provider: IdentityProvider, attempt: SignInAttempt): Promise<URL>
  /** Exchanges the code and checks the ID token. Raises `unauthenticated`, or `unavailable`. */
  redeem(provider: IdentityProvider, callback: URL, attempt: SignInAttempt): Promise<ProviderIdentity>
  /** Where the browser signs out; undefined when the provider has no such address. */
  endSessionUrl(provider: IdentityProvider, idToken: string | undefined, returnTo: string): Promise<URL | undefined>
  /** Raises `invalid` for a token that does not end a session here. */
  verifyLogoutToken(provider: IdentityProvider, token: string): Promise<LogoutToken>
  /** Whether a sign-in can work, and what is or may be wrong. */
  check(provider: IdentityProvider): Promise<ProviderCheck>
}

/** Asymmetric ones only: a public key must never serve as the secret of an HMAC. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
export const clockToleranceSeconds = 60
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const groupsMax = 1000
/** As OpenID Connect limits a subject. */
const identifierCharactersMax = 255

export function createProviderClient(issuers: Issuers, fetch: OutgoingFetch, secretBox: SecretBox): ProviderClient {
  async function configurationOf(provider: IdentityProvider): Promise<Configuration> {
    const metadata = await issuers.discover(provider.issuer)
    const secret = provider.clientSecret && secretBox.open(provider.clientSecret, clientSecretPurpose)
    // Without cached keys: they are fetched at each sign-in, so that a rotation at the provider is never missed.
    const configuration = new Configuration(
      metadata,
      provider.clientId,
      { require_auth_time: false },
      secret ? secretMethod(metadata)(secret) : None(),
    )
    configuration[customFetch] = fetch
    enableNonRepudiationChecks(configuration)
    if (isPlainHttp(provider.issuer)) allowInsecureRequests(configuration)
    return configuration
  }

  return {
    async authorizationUrl(provider, { state, nonce, verifier, redirectUri }) {
      const configuration = await configurationOf(provider)
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: ['openid', ...provider.scopes.filter(scope => scope !== 'openid')].join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlainHttp(provider.issuer))) {
        throw issuerUnavailable(new Error('The discovery document has no usable `authorization_endpoint`.'))
      }
      return url
    },

    async redeem(provider, callback, { state, nonce, verifier }) {
      try {
        const configuration = await configurationOf(provider)
        const tokens = await authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims || !tokens.id_token) throw new Error('The response has no ID token.')
        checkClaims(claims, provider.clientId)
        const isComplete = typeof claims.email === 'string' && claims[provider.groupClaim] !== undefined
        const canAsk = configuration.serverMetadata().userinfo_endpoint !== undefined
        const further = isComplete || !canAsk ? {} : await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        return identityOf(provider, claims, further, tokens.id_token)
      } catch (error) {
        if (isOutage(error)) throw issuerUnavailable(error)
        throw new Problem('unauthenticated', refusalOf(error), { code: 'sso_refused', cause: error })
      }
    },

    async endSessionUrl(provider, idToken, returnTo) {
      const configuration = await configurationOf(provider)
      if (!configuration.serverMetadata().end_session_endpoint) return undefined
      return buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      })
    },

    async verifyLogoutToken(provider, token) {
      const keys = await issuers.keysOf(provider.issuer)
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer: provider.issuer,
          audience: provider.clientId,
          algorithms: signatureAlgorithms,
          clockTolerance: clockToleranceSeconds,
          maxTokenAge: 600,
          requiredClaims: ['iat', 'jti', 'events'],
        })
        return logoutOf(payload)
      } catch (error) {
        if (isOutage(error)) throw issuerUnavailable(error)
        const reason = reasonOf(error).slice(0, 100)
        throw new Problem('invalid', `\`logout_token\` was refused: ${reason}`, { field: 'logout_token', cause: error })
      }
    },

    async check(provider) {
      try {
        issuers.forget(provider.issuer)
        const metadata = await issuers.discover(provider.issuer)
        await checkKeys(metadata, fetch)
        const problems = problemsOf(metadata)
        return { isUsable: problems.length === 0, problems: [...problems, ...unlistedScopes(metadata, provider)] }
      } catch (error) {
        const problem = `The discovery document or the keys could not be read: ${reasonOf(error)}`.slice(0, 300)
        return { isUsable: false, problems: [problem] }
      }
    },
  }
}

/** `client_secret_basic` is what a provider supports that does not say. */
const secretMethod = ({ token_endpoint_auth_methods_supported: methods = [] }: ServerMetadata) =>
  methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic

/** What the library leaves to its caller. */
function checkClaims({ sub, sid, azp, iat }: JWTPayload & { readonly azp?: unknown }, clientId: string): void {
  if (!isIdentifier(sub)) throw new Error('The ID token has no usable subject (`sub`).')
  // Shortened, it would no longer match the one in a logout token.
  if (sid !== undefined && !isIdentifier(sid)) throw new Error('The ID token has no usable session id (`sid`).')
  if (azp !== undefined && azp !== clientId) throw new Error('The ID token was issued for another client (`azp`).')
  if ((iat ?? 0) > Date.now() / 1000 + clockToleranceSeconds) {
    throw new Error('The ID token was issued in the future (`iat`). Check the clocks.')
  }
}

type Claims = Readonly<Record<string, unknown>>

/** The address and whether it is verified always come from the same document. */
function identityOf(
  provider: IdentityProvider,
  claims: Claims & { readonly sub: string },
  further: Claims,
  idToken: string,
): ProviderIdentity {
  const addressed = typeof claims.email === 'string' ? claims : further
  const named = { ...further, ...claims }
  const end = claims.session_expiry
  return {
    subject: claims.sub,
    email: typeof addressed.email === 'string' ? addressed.email : undefined,
    isEmailVerified: addressed.email_verified === true,
    name: textOf(named.given_name) ?? textOf(named.name) ?? '',
    groups: groupsOf(named[provider.groupClaim]),
    sessionId: isIdentifier(claims.sid) ? claims.sid : null,
    sessionExpiresAt: typeof end === 'number' && end > 0 && end < 1e11 ? instantOf(new Date(end * 1000)) : undefined,
    idToken,
  }
}

const isStorable = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\u0000')

/** A claim that is stored and compared as a whole. */
export const isIdentifier = (value: unknown): value is string =>
  isStorable(value) && value.length <= identifierCharactersMax

/** A claim that is shown. */
const textOf = (value: unknown): string | undefined => (isStorable(value) ? value.slice(0, 200) : undefined)

function groupsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  return value.slice(0, groupsMax).filter(group => typeof group === 'string')
}

function logoutOf(payload: JWTPayload): LogoutToken {
  const { events, nonce, sub, sid, jti } = payload as JWTPayload & { readonly events?: unknown }
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, logoutEvent)
  if (!isLogout) throw new Error('`events` does not name a back-channel logout.')
  if (nonce !== undefined) throw new Error('It has a `nonce`, so it is an ID token.')
  if (sub === undefined && sid === undefined) throw new Error('It has neither `sub` nor `sid`.')
  if (sub !== undefined && !isIdentifier(sub)) throw new Error('Its `sub` is not usable.')
  if (sid !== undefined && !isIdentifier(sid)) throw new Error('Its `sid` is not usable.')
  return { id: String(jti), subject: sub, sessionId: sid }
}

/** The error code of the provider is shown; details stay in the status of the provider. */
function refusalOf(error: unknown): string {
  const { error: code } = (error ?? {}) as { readonly error?: unknown }
  const shown = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : ''
  return `The sign-in with the provider failed${shown}. Start again, or ask the owner of the organization.`
}

async function checkKeys({ jwks_uri: address }: ServerMetadata, fetch: OutgoingFetch): Promise<void> {
  const response = await fetch(address ?? '')
  const { keys } = (await response.json()) as { readonly keys?: unknown }
  if (response.status !== 200 || !Array.isArray(keys) || keys.length === 0) {
    throw new Error('The document at `jwks_uri` has no keys.')
  }
}

function problemsOf(metadata: ServerMetadata): readonly string[] {
  const algorithms = metadata.id_token_signing_alg_values_supported
  return [
    ...(metadata.authorization_endpoint ? [] : ['The discovery document has no `authorization_endpoint`.']),
    ...(metadata.token_endpoint ? [] : ['The discovery document has no `token_endpoint`.']),
    ...(algorithms && !algorithms.some(each => signatureAlgorithms.includes(String(each)))
      ? ['The provider signs with no supported algorithm. Choose RS256 or ES256.']
      : []),
  ]
}

/** A provider may support scopes that it does not list. */
function unlistedScopes({ scopes_supported: listed }: ServerMetadata, { scopes }: IdentityProvider): readonly string[] {
  const unlisted = listed ? scopes.filter(scope => !listed.includes(scope)) : []
  return unlisted.map(scope => `The provider does not list the scope \`${scope}\`. It may support it anyway.`)
}
