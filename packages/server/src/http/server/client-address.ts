import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

export type TrustProxy = boolean | number | string

type Trust = (address: string, hop: number) => boolean

/**
 * Whether an address is a trusted proxy. Fastify refuses a number, because it cannot know whether the peer is one of the proxies;
 * setting one declares that this server is reachable through them only.
 */
export function trustedProxies(trust: TrustProxy): Trust {
  if (typeof trust === 'boolean') return () => trust
  if (typeof trust === 'number') return (_address, hop) => hop < trust
  return proxyAddr.compile(trust.split(',').map(address => address.trim()))
}

/** The address of the client behind trusted proxies, for requests that Fastify does not see. */
export function createClientAddress(trust: TrustProxy): (request: IncomingMessage) => string | undefined {
  const isTrusted = trustedProxies(trust)
  return request => (trust === false ? request.socket.remoteAddress : proxyAddr(request, isTrusted))
}
