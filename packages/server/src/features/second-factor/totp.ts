import { Secret, TOTP } from 'otpauth'
import { dateOf, type Instant } from '../../instant.ts'

const issuer = 'Halyard'
const periodSeconds = 30
/** Steps before and after the current one that are accepted: clocks of phones differ. */
const windowSteps = 1

export const newTotpSecret = (): string => new Secret({ size: 20 }).base32

const totpOf = (secret: string, label: string): TOTP =>
  new TOTP({ issuer, label, secret: Secret.fromBase32(secret), period: periodSeconds, digits: 6 })

export const totpUri = (secret: string, email: string): string => totpOf(secret, email).toString()

/** The time step that the code belongs to; undefined when it is wrong. */
export function stepOfCode(secret: string, code: string, now: Instant): number | undefined {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const timestamp = dateOf(now).getTime()
  const delta = totpOf(secret, '').validate({ token, window: windowSteps, timestamp })
  return delta === null ? undefined : Math.floor(timestamp / 1000 / periodSeconds) + delta
}
