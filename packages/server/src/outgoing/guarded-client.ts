import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, type Dispatcher, request as send } from 'undici'
import { noOutgoingHeaders, type OutgoingHeaders } from '../observability/telemetry/tracing.ts'
import { type Outgoing, type OutgoingAnswer, OutgoingFailure, type OutgoingRequest } from './outgoing.ts'
import { isPublicAddress } from './public-address.ts'

export interface GuardedClientOptions {
  /** Origins that the operator configured, as `http://registry.internal:4873`: they may be in a private network. */
  trustedOrigins?: readonly string[] | (() => readonly string[])
  /** Resolves names; `dns.lookup` unless a test replaces it. */
  resolve?: Resolve
  /** Which addresses may be connected to; those of the public Internet unless a test replaces it. */
  isAllowedAddress?: (address: string) => boolean
  /** The trace context to pass on. */
  outgoingHeaders?: OutgoingHeaders
}

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const redirectStatuses = new Set([301, 302, 303, 307, 308])
const defaultRedirectsMax = 5
const connectMsMax = 10_000

/** Sent on when a redirect leads to another origin; anything else may be a credential. */
const headersForAnyOrigin = new Set(['accept', 'accept-encoding', 'accept-language', 'content-type', 'user-agent'])

/**
 * A name is resolved once, and the connection goes to the address that was checked, so DNS rebinding gains nothing. A
 * literal address is never resolved and is checked as it is. Each redirect is checked in the same way.
 */
export function createGuardedClient(options: GuardedClientOptions = {}): Outgoing {
  let trusted: ReadonlySet<string> | undefined
  function isTrusted(origin: string): boolean {
    const { trustedOrigins: origins = [] } = options
    trusted ??= new Set((typeof origins === 'function' ? origins() : origins).map(text => new URL(text).origin))
    return trusted.has(origin)
  }
  const isAllowedAddress = options.isAllowedAddress ?? isPublicAddress
  const lookupAllowed = createLookup(options.resolve ?? lookup, isAllowedAddress)
  const outgoingHeaders = options.outgoingHeaders ?? noOutgoingHeaders
  const anywhere = new Agent({ connect: { timeout: connectMsMax } })
  const publicOnly = new Agent({ connect: { timeout: connectMsMax, lookup: lookupAllowed } })

  function chooseAgent(url: URL, isTrustedHop: boolean): Dispatcher {
    if (isTrustedHop) return anywhere
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) && !isAllowedAddress(literal)) throw notPublic(url.hostname)
    return publicOnly
  }

  async function follow(
    request: OutgoingRequest,
    traceHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<OutgoingAnswer> {
    let hop = firstHop(request, traceHeaders)
    // Trust ends with the first redirect from elsewhere: no public server leads into the private network.
    let isTrustedHop = true
    const redirectsMax = request.redirectsMax ?? defaultRedirectsMax
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const { url, ...rest } = hop
      if (request.mayVisit && !request.mayVisit(url)) throw notAllowed(url.host)
      isTrustedHop &&= isTrusted(url.origin)
      const answer = await send(url, { ...rest, signal, dispatcher: chooseAgent(url, isTrustedHop) })
      const location = redirectStatuses.has(answer.statusCode) ? answer.headers.location : undefined
      if (typeof location === 'string' && redirectsMax > 0) {
        await answer.body.dump()
        hop = nextHop(hop, answer.statusCode, location)
        continue
      }
      const body = await readBody(answer.body, request.answerBytesMax)
      return { status: answer.statusCode, headers: flatten(answer.headers), body, url: url.href }
    }
    throw new OutgoingFailure('refused', `There were more than ${redirectsMax} redirects.`)
  }

  return {
    async request(request) {
      const traceHeaders = outgoingHeaders()
      const timeout = AbortSignal.timeout(request.timeoutMsMax)
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout
      try {
        return await follow(request, traceHeaders, signal)
      } catch (error) {
        throw explain(error, request, signal)
      }
    },
    async close() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy()])
    },
  }
}

interface Hop {
  url: URL
  method: Dispatcher.HttpMethod
  headers: Record<string, string>
  body: string | Uint8Array | null
}

function firstHop(
  { url, method = 'GET', headers = {}, body }: OutgoingRequest,
  traceHeaders: Readonly<Record<string, string>>,
): Hop {
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    url: parseTarget(url),
    method: method.toUpperCase() as Dispatcher.HttpMethod,
    headers: { 'user-agent': 'halyard', ...traceHeaders, ...lowerCase, 'accept-encoding': 'identity' },
    body: body ?? null,
  }
}

/** Credentials are not forwarded to another origin; a changed method drops the body, as in browsers. */
function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = parseTarget(location, hop.url)
  const isSameOrigin = url.origin === hop.url.origin
  const forwarded = Object.entries(hop.headers).filter(([name]) => isSameOrigin || headersForAnyOrigin.has(name))
  const headers = Object.fromEntries(forwarded)
  const keepsMethod = status === 307 || status === 308 || hop.method === 'GET' || hop.method === 'HEAD'
  return keepsMethod ? { ...hop, url, headers } : { url, headers, method: 'GET', body: null }
}

function parseTarget(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new OutgoingFailure('refused', `Only http and https addresses are allowed: ${text.slice(0, 200)}`)
  }
  if (url.username || url.password) throw new OutgoingFailure('refused', 'An address must not carry credentials.')
  return url
}

/** One private address among several is enough to reject the name. */
function createLookup(resolve: Resolve, isAllowedAddress: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      // The same failure as for a private address: otherwise a caller could probe which internal names exist.
      if (error) return done(notPublic(hostname), '')
      const isSafe = addresses.length > 0 && addresses.every(({ address }) => isAllowedAddress(address))
      if (!isSafe) return done(notPublic(hostname), '')
      if (options.all) return done(null, addresses)
      done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

async function readBody(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > bytesMax) throw new OutgoingFailure('too_large', `The response is larger than ${bytesMax} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function explain(error: unknown, request: OutgoingRequest, signal: AbortSignal): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof OutgoingFailure) return cause
  const host = URL.canParse(request.url) ? new URL(request.url).host : 'the address'
  if (request.signal?.aborted) return new OutgoingFailure('aborted', 'The request was canceled.')
  if (signal.aborted)
    return new OutgoingFailure('timeout', `${host} did not respond within ${request.timeoutMsMax} ms.`)
  const reason = error instanceof Error && error.message ? error.message : 'the connection was closed'
  return new OutgoingFailure('unreachable', `${host} could not be reached: ${reason}`, error)
}

function notPublic(host: string): OutgoingFailure {
  return new OutgoingFailure('refused', `${host} was not found or is not a public address.`)
}

function notAllowed(host: string): OutgoingFailure {
  return new OutgoingFailure('refused', `${host} is not an allowed host.`)
}
