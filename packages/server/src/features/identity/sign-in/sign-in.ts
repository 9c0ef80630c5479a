import type { Instant } from '../../../instant.ts'

/** How the user proved who they are. */
export type SignInMethod =
  | 'password'
  | 'password_and_code'
  | 'password_and_recovery_code'
  | 'password_and_passkey'
  | 'passkey'
  | 'single_sign_on'

/** One sign-in in one browser. Its keys expire after hours; with a refresh token it gets new ones without a password. */
export interface SignIn {
  readonly id: string
  readonly userId: number
  /** Hash of the refresh token; null when the user did not choose to stay signed in. */
  readonly refreshHash: string | null
  readonly method: SignInMethod
  /** When the user last proved who they are in this sign-in: for what a stolen session must not do. */
  readonly provenAt: Instant
  readonly userAgent: string
  readonly address: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** Null for a sign-in without an identity provider. */
  readonly provider: SignInProvider | null
}

/** The identity provider that a sign-in was made with. */
export interface SignInProvider {
  readonly id: string
  /** Its id of the session (`sid`). */
  readonly sessionId: string | null
  /** Sealed; a hint for the logout at the provider. */
  readonly idToken: string | null
}

export interface ListedSignIn extends SignIn {
  readonly lastUsedAt: Instant
}

export const signInsPerUserMax = 50
export const keysPerSignInMax = 20
export const rememberedDays = 30
export const userAgentCharactersMax = 300
