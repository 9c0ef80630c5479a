import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client'
import type { SecretBox } from '../../storage/secret-box.ts'
import { readCookie } from '../identity/sign-in/sign-in-cookie.ts'

/** What binds the response of the provider to the browser that asked. Sealed in a cookie, so that every node can finish it. */
export interface SignInAttempt {
  readonly providerId: string
  readonly state: string
  readonly nonce: string
  /** Of PKCE. */
  readonly verifier: string
  readonly redirectUri: string
  /** Path of the dashboard. */
  readonly next: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

const cookieName = 'halyard_sso'
const path = '/api/login/sso'
const purpose = 'single sign-on attempt'
const secondsMax = 600

export const newAttempt = (providerId: string, redirectUri: string, next: string | undefined): SignInAttempt => ({
  providerId,
  state: randomState(),
  nonce: randomNonce(),
  verifier: randomPKCECodeVerifier(),
  redirectUri,
  next: dashboardPath(next),
  expiresAt: Date.now() + secondsMax * 1000,
})

export const attemptCookie = (attempt: SignInAttempt, secretBox: SecretBox, url: URL): string =>
  `${cookieName}=${encodeURIComponent(secretBox.seal(JSON.stringify(attempt), purpose))}; Max-Age=${secondsMax}${attributes(url)}`

export const clearedAttemptCookie = (url: URL): string => `${cookieName}=; Max-Age=0${attributes(url)}`

const attributes = ({ protocol }: URL): string =>
  `; Path=${path}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`

/** Undefined when this browser has started none, or too long ago. */
export function readAttempt(cookies: string | undefined, secretBox: SecretBox): SignInAttempt | undefined {
  const sealed = readCookie(cookies, cookieName)
  if (!sealed) return undefined
  try {
    const attempt: SignInAttempt = JSON.parse(secretBox.open(decodeURIComponent(sealed), purpose))
    return attempt.expiresAt > Date.now() ? attempt : undefined
  } catch {
    return undefined
  }
}

/** Only a path of this site, so that a sign-in never leads elsewhere. */
export function dashboardPath(text: string | undefined): string {
  const base = 'http://dashboard.invalid'
  if (!text?.startsWith('/') || !URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
