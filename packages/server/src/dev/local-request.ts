import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a program on this machine sends the request, or a page that was loaded from it. Other pages can reach a loopback port as well:
 * directly, or through a name that they point to it.
 */
export function isLocalRequest({ host, origin }: IncomingHttpHeaders, boundTo: string): boolean {
  if (origin !== undefined && !isLoopback(hostOf(origin))) return false
  return !isLoopback(boundTo) || isLoopback(hostOf(`http://${host}`))
}

export const isLoopback = (host: string | undefined): boolean =>
  host !== undefined && /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}
