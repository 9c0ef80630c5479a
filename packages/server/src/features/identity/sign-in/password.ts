import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Semaphore } from '../../../concurrency/semaphore.ts'

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const keyBytes = 32
const cost = { N: 16_384, r: 8, p: 5 }

/** Half of libuv's thread pool: decompression and file access of other tenants use the same threads. */
const derivationsMax = 2
const derivationsWaitingMax = 64
const waitMillisecondsMax = 60_000
const derivations = new Semaphore({
  permits: derivationsMax,
  queueMax: derivationsWaitingMax,
  waitMillisecondsMax,
  message: 'Too many passwords are being checked. Try again in a moment.',
})

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  derivations.run(() => scryptAsync(password, salt, keyBytes, options))

/** Raises `unavailable` when too many derivations are queued. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, cost)
  return `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString('base64')}$${key.toString('base64')}`
}

/**
 * Takes as long for a user without a password, so that timing does not reveal which accounts exist.
 * Raises `unavailable` when too many derivations are queued.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = (stored ?? placeholder).split('$')
  const expected = Buffer.from(key, 'base64')
  const actual = await derive(password, Buffer.from(salt, 'base64'), { N: Number(N), r: Number(r), p: Number(p) })
  return timingSafeEqual(actual, expected) && stored !== null
}

const placeholder = `scrypt$${cost.N}$${cost.r}$${cost.p}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`
