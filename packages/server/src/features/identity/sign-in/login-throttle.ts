import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { dateOf, type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Job } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { hashSecret } from '../secret.ts'
import { createKeyedSemaphore } from './keyed-semaphore.ts'
import type { SignInFailures, SignInWindow } from './sign-in-failure-store.sql.ts'

/** How often each may be wrong within the window. */
export interface ThrottleLimits {
  readonly accountFromAddress: number
  readonly account: number
  readonly address: number
}

const passwordLimits: ThrottleLimits = { accountFromAddress: 5, account: 50, address: 50 }
const windowMilliseconds = 5 * 60 * 1000
/** Clocks of nodes differ, and a concurrent request may have read its clock later and written first. */
const clockSkewMilliseconds = 60_000
const blocksMax = 50_000

const dayMilliseconds = 24 * 60 * 60 * 1000
const knownPlaceMilliseconds = 30 * dayMilliseconds

/**
 * Limits wrong passwords: few for one account from one address, more for the account from everywhere, more from the address for all
 * accounts. An address where the account signed in lately is a known place: failures elsewhere do not block it.
 *
 * Failures are counted in the database, by all nodes together. At most as many guesses are checked at once as may still be wrong, and
 * the others wait: parallel guesses gain nothing, and right passwords never block each other.
 */
export interface LoginThrottle {
  /** Returns what `check` returns; undefined means a wrong password. Raises `throttled`, `unavailable`, and what `check` raises. */
  guess<T>(email: string, address: string, check: () => Promise<T | undefined>): Promise<T | undefined>
}

interface Deps {
  readonly database: Database
  readonly now: () => Instant
  readonly onFailure?: (reason: 'wrong' | 'throttled') => void
  /** What is counted apart from passwords. */
  readonly subject?: string
  readonly limits?: ThrottleLimits
  /** Milliseconds. */
  readonly monotonic?: () => number
}

interface Limit {
  readonly key: string
  readonly max: number
}

export function createLoginThrottle({
  database,
  now,
  onFailure = () => {},
  subject = '',
  limits: most = passwordLimits,
  monotonic = monotonicNow,
}: Deps): LoginThrottle {
  const slots = createKeyedSemaphore()
  /** Until when a key is known to be blocked, so that refusing it needs no query. */
  const blocked = new Map<string, number>()

  function block(key: string, milliseconds: number): void {
    if (blocked.size > blocksMax) blocked.clear()
    blocked.set(key, monotonic() + milliseconds)
  }

  function blockedFor(key: string): number {
    const left = (blocked.get(key) ?? 0) - monotonic()
    if (left <= 0) blocked.delete(key)
    return Math.max(0, left)
  }

  function refuseBlocked(limits: readonly Limit[]): void {
    for (const { key } of limits) {
      const left = blockedFor(key)
      if (left > 0) throw tooMany(left)
    }
  }

  /** Blocks the keys that reached their limit; raises for those that exceed it by the allowance. */
  function enforce(limits: readonly Limit[], failures: readonly SignInFailures[], allowance: 0 | 1): void {
    let longest = 0
    for (const { key, max } of limits) {
      const recent = failures.find(failure => failure.key === key)
      slots.resize(key, max - (recent?.count ?? 0))
      if (!recent || recent.count < max) continue
      const left = dateOf(recent.since).getTime() + windowMilliseconds - dateOf(now()).getTime()
      block(key, left)
      if (recent.count >= max + allowance) longest = Math.max(longest, left)
    }
    if (longest > 0) throw tooMany(longest)
  }

  async function checkWithin<T>(limits: readonly Limit[], check: () => Promise<T | undefined>): Promise<T | undefined> {
    refuseBlocked(limits)
    const keys = limits.map(({ key }) => key)
    enforce(limits, await database.read(tx => tx.signInFailures.find(keys, windowAt(now()))), 0)
    const result = await check()
    if (result !== undefined) return result
    enforce(limits, await database.transaction(tx => tx.signInFailures.add(keys, windowAt(now()))), 1)
    return undefined
  }

  /** The counts of the account and of the address stay: the user who signed in may not be the one who guessed. */
  async function recordSuccess(place: string, lastSuccess: Instant | undefined): Promise<void> {
    const time = now()
    const isRecent = lastSuccess !== undefined && lastSuccess > plusMilliseconds(time, -dayMilliseconds)
    const failures = await database.read(tx => tx.signInFailures.find([place], windowAt(time)))
    if (isRecent && failures.length === 0) return
    await database.transaction(async tx => {
      await tx.signInFailures.remove(place)
      if (!isRecent) await tx.signInFailures.recordSuccess(place, time)
    })
  }

  async function guess<T>(email: string, address: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const account = email.trim().toLowerCase()
    const here = { key: hashSecret(`${subject}account ${account} address ${address}`), max: most.accountFromAddress }
    const everywhere = { key: hashSecret(`${subject}account ${account}`), max: most.account }
    const anyAccount = { key: hashSecret(`${subject}address ${address}`), max: most.address }
    refuseBlocked([here, anyAccount])
    const lastSuccess = await database.read(tx => tx.signInFailures.findSuccess(here.key))
    const isKnownPlace = lastSuccess !== undefined && lastSuccess > plusMilliseconds(now(), -knownPlaceMilliseconds)
    const accountBlockedFor = isKnownPlace ? 0 : blockedFor(everywhere.key)
    // The next guess from here is then refused without a query.
    if (accountBlockedFor > 0) block(here.key, accountBlockedFor)
    const limits = isKnownPlace ? [here, anyAccount] : [here, everywhere, anyAccount]
    refuseBlocked(limits)
    const release = await slots.acquire(limits)
    const result = await checkWithin(limits, check).finally(release)
    if (result !== undefined) await recordSuccess(here.key, lastSuccess)
    return result
  }

  return {
    async guess(email, address, check) {
      try {
        const result = await guess(email, address, check)
        if (result === undefined) onFailure('wrong')
        return result
      } catch (error) {
        if (error instanceof Problem && error.kind === 'throttled') onFailure('throttled')
        throw error
      }
    },
  }
}

/** Removes failures that no longer count, and places that are no longer known. */
export const trimSignInFailures: Job = {
  name: 'trim-sign-in-failures',
  async run({ now, transaction }) {
    await transaction(async tx => {
      await tx.signInFailures.removeOutside(windowAt(now))
      await tx.signInFailures.removeSuccessesBefore(plusMilliseconds(now, -knownPlaceMilliseconds))
    })
  },
}

const windowAt = (now: Instant): SignInWindow => ({
  now,
  from: plusMilliseconds(now, -windowMilliseconds),
  to: plusMilliseconds(now, clockSkewMilliseconds),
})

function tooMany(leftMilliseconds: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMilliseconds / 1000))
  return new Problem('throttled', `Too many attempts. Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}
