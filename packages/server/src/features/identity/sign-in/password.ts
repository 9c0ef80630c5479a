import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Semaphore } from '../../../concurrency/semaphore.ts'

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const keyBytes = 32
const blockSize = 8
const parallelization = 5

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

/** Both methods raise `unavailable` when too many derivations are queued. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes as long for a user without a password, so that timing does not reveal which accounts exist. */
  verify(password: string, stored: string | null): Promise<boolean>
}

/** Hashes with scrypt; `cost` is the base-2 logarithm of its N. A stored hash carries the cost it was made with. */
export function createPasswords(cost: number): Passwords {
  const N = 2 ** cost
  const prefix = `scrypt$${N}$${blockSize}$${parallelization}`
  const placeholder = `${prefix}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`
  return {
    async hash(password) {
      const salt = randomBytes(16)
      const key = await derive(password, salt, { N, r: blockSize, p: parallelization })
      return `${prefix}$${salt.toString('base64')}$${key.toString('base64')}`
    },

    async verify(password, stored) {
      const [, N, r, p, salt = '', key = ''] = (stored ?? placeholder).split('$')
      const expected = Buffer.from(key, 'base64')
      const actual = await derive(password, Buffer.from(salt, 'base64'), { N: Number(N), r: Number(r), p: Number(p) })
      return timingSafeEqual(actual, expected) && stored !== null
    },
  }
}

function derive(password: string, salt: Buffer, { N, r, p }: { N: number; r: number; p: number }): Promise<Buffer> {
  // scrypt needs 128 × N × r bytes; Node's default limit would refuse costs above 14.
  return derivations.run(() => scryptAsync(password, salt, keyBytes, { N, r, p, maxmem: 256 * N * r }))
}
