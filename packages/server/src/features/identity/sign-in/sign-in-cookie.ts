import type { IncomingHttpHeaders } from 'node:http'
import { forbidden } from '../../../problem.ts'
import { rememberedDays } from './sign-in.ts'

/** The only path that receives the cookie: it authenticates nothing else. */
const path = '/api/session/resume'
const name = 'halyard_refresh'
const secretPattern = /^[0-9A-Za-z]{43}$/

/** Not readable by scripts, not sent by other sites. `Secure` wherever the browser uses TLS. */
export const refreshCookie = (secret: string, url: URL): string =>
  `${attributes(`${name}=${secret}`, url)}; Max-Age=${rememberedDays * 24 * 60 * 60}`

export const clearedCookie = (url: URL): string => `${attributes(`${name}=`, url)}; Max-Age=0`

const attributes = (pair: string, { protocol }: URL): string =>
  `${pair}; Path=${path}; HttpOnly; SameSite=Strict${protocol === 'https:' ? '; Secure' : ''}`

export function readRefreshCookie({ cookie }: IncomingHttpHeaders): string | undefined {
  const value = readCookie(cookie, name)
  return value && secretPattern.test(value) ? value : undefined
}

export function readCookie(cookies: string | undefined, name: string): string | undefined {
  for (const part of (cookies ?? '').slice(0, 8192).split(';')) {
    const pair = part.trim()
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1)
  }
  return undefined
}

/** Rejects a request that another site has caused. Browsers that send neither header apply `SameSite` as well. */
export function requireSameOrigin(headers: IncomingHttpHeaders, url: URL): void {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isForeign =
    (site !== undefined && site !== 'same-origin') || (origin !== undefined && hostOf(origin) !== url.host)
  if (isForeign) throw forbidden('A sign-in can only be resumed by the dashboard itself.')
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host
  } catch {
    return undefined
  }
}
