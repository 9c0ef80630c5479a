import { randomBytes } from 'node:crypto'
import type { Instant } from '../../instant.ts'
import { hashSecret } from '../identity/secret.ts'

interface FactorBase {
  readonly id: string
  readonly userId: number
  /** Chosen by the user, to recognize it. */
  readonly name: string
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

/** An authenticator app (TOTP, RFC 6238). */
export interface CodeFactor extends FactorBase {
  readonly kind: 'code'
  readonly sealedSecret: string
  /** The last time step whose code was used: no code works twice. */
  readonly lastStep: number
}

/** A passkey (WebAuthn). */
export interface PasskeyFactor extends FactorBase {
  readonly kind: 'passkey'
  readonly credentialId: string
  /** Base64url, COSE. */
  readonly publicKey: string
  /** The domain that it was created for: it works nowhere else. */
  readonly rpId: string
  readonly transports: readonly string[]
  readonly signatures: number
}

export type SecondFactor = CodeFactor | PasskeyFactor

/** Wrong ones within five minutes: a code has a million values, of which three are right. */
export const factorLimits = { accountFromAddress: 5, account: 20, address: 50 }

export const factorsPerUserMax = 20
export const recoveryCodeCount = 10

/** Without vowels and digits that look alike: no words, no misreading. */
const alphabet = '23456789bcdfghjkmnpqrstvwxyz2345'

/** 16 of 32 characters (about 75 random bits), in groups of four. */
export const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: recoveryCodeCount }, () =>
    [...randomBytes(16)].map((byte, n) => (n > 0 && n % 4 === 0 ? '-' : '') + alphabet[byte % 32]).join(''),
  )

/** As typed: with or without hyphens and spaces, in any case. */
export const hashRecoveryCode = (userId: number, code: string): string =>
  hashSecret(`recovery ${userId} ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)

/** Those that the browser can use at this address. */
export const passkeysFor = (
  factors: readonly SecondFactor[],
  { rpId }: { readonly rpId: string },
): readonly PasskeyFactor[] =>
  factors.filter((factor): factor is PasskeyFactor => factor.kind === 'passkey' && factor.rpId === rpId)

export const methodsOf = (
  factors: readonly SecondFactor[],
  party: { readonly rpId: string },
  recoveryCodesLeft: number,
): ('code' | 'passkey' | 'recovery_code')[] => [
  ...(passkeysFor(factors, party).length > 0 ? (['passkey'] as const) : []),
  ...(factors.some(({ kind }) => kind === 'code') ? (['code'] as const) : []),
  ...(recoveryCodesLeft > 0 ? (['recovery_code'] as const) : []),
]
