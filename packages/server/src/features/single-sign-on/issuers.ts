import { createRemoteJWKSet, type JWTVerifyGetKey, customFetch as joseFetch } from 'jose'
import { LRUCache } from 'lru-cache'
import { allowInsecureRequests, customFetch, discovery, None, type ServerMetadata } from 'openid-client'
import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import { OutgoingFailure } from '../../outgoing/outgoing.ts'
import type { OutgoingFetch } from '../../outgoing/outgoing-fetch.ts'
import { invalid, Problem } from '../../problem.ts'

/** Discovery documents and signing keys of issuers, cached for a while; failed lookups for a moment. */
export interface Issuers {
  /** Raises `unavailable` when the issuer cannot be reached or its document is not usable. */
  discover(issuer: string): Promise<ServerMetadata>
  /** Finds the key of a signature; fetches again when a token names a key that is not cached. */
  keysOf(issuer: string): Promise<JWTVerifyGetKey>
  /** The next lookup asks the issuer again, also after a failure. */
  forget(issuer: string): void
  /** Raises `invalid` for an address that is none. http:// needs an origin that the operator trusts. */
  check(issuer: string): void
}

interface Issuer {
  readonly metadata: ServerMetadata
  readonly keys: JWTVerifyGetKey
}

const freshMilliseconds = 10 * 60_000
/** Everyone can cause lookups of an issuer that is down: they must not become one request each. */
const failedMilliseconds = 5000
const issuersMax = 1000
const timeoutSeconds = 10

export function createIssuers(fetch: OutgoingFetch, trustedOrigins: readonly string[]): Issuers {
  // Promises, so that concurrent lookups share one request.
  const cache = new LRUCache<string, Promise<Issuer>>({ max: issuersMax, ttl: freshMilliseconds })

  function load(issuer: string): Promise<Issuer> {
    const cached = cache.get(issuer)
    if (cached) return cached
    const loading = lookUp(fetch, issuer).catch(error => {
      if (cache.peek(issuer) === loading) cache.set(issuer, loading, { ttl: failedMilliseconds })
      throw issuerUnavailable(error)
    })
    cache.set(issuer, loading)
    return loading
  }

  return {
    discover: async issuer => (await load(issuer)).metadata,
    keysOf: async issuer => (await load(issuer)).keys,
    forget(issuer) {
      cache.delete(issuer)
    },
    check(issuer) {
      const url = URL.canParse(issuer) ? new URL(issuer) : undefined
      const isWeb = url && (url.protocol === 'https:' || (isPlainHttp(issuer) && trustedOrigins.includes(url.origin)))
      if (!isWeb || url.username || url.password || url.search || url.hash) {
        throw invalid('issuer', 'invalid_input', '`issuer` must be an https:// address without credentials or query.')
      }
    },
  }
}

async function lookUp(fetch: OutgoingFetch, issuer: string): Promise<Issuer> {
  const configuration = await discovery(new URL(issuer), 'halyard', undefined, None(), {
    [customFetch]: fetch,
    timeout: timeoutSeconds,
    execute: isPlainHttp(issuer) ? [allowInsecureRequests] : [],
  })
  const metadata = configuration.serverMetadata()
  if (!metadata.jwks_uri) throw new Error('The discovery document has no `jwks_uri`.')
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
    [joseFetch]: cachingFailures(fetch),
    cacheMaxAge: freshMilliseconds,
    cooldownDuration: 1000,
    timeoutDuration: timeoutSeconds * 1000,
  })
  return { metadata, keys }
}

/** The library shares concurrent requests for keys, but repeats one that failed with every token. */
function cachingFailures(fetch: OutgoingFetch): OutgoingFetch {
  let failure: { readonly problem: Problem; readonly until: number } | undefined
  return async (url, init) => {
    if (failure && failure.until > monotonicNow()) throw failure.problem
    try {
      const response = await fetch(url, init)
      if (response.status !== 200) throw new Error(`The document at \`jwks_uri\` has status ${response.status}.`)
      return response
    } catch (error) {
      failure = { problem: issuerUnavailable(error), until: monotonicNow() + failedMilliseconds }
      throw failure.problem
    }
  }
}

export const isPlainHttp = (address: string): boolean => address.startsWith('http://')

export const issuerUnavailable = (error: unknown): Problem =>
  new Problem('unavailable', 'The identity provider is not available. Try again later.', {
    code: 'sso_unavailable',
    retryAfterSeconds: 10,
    cause: error,
  })

/** What went wrong, for admins: the first message that a user can act on. */
export function reasonOf(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof OutgoingFailure) return each.message
    if (!(each instanceof Problem) && !(each.cause instanceof Error)) return each.message
  }
  return error instanceof Error ? error.message : 'unknown'
}

/** Whether the request failed for the network or the server, and not for what was sent. */
export function isOutage(error: unknown): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof OutgoingFailure) return true
    if (each instanceof Problem && each.kind === 'unavailable') return true
    if (each.cause instanceof Response && each.cause.status >= 500) return true
  }
  return false
}
