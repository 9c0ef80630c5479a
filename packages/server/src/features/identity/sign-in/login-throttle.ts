import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { dateOf, type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Job } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { hashSecret } from '../secret.ts'
import type { SignInFailures, SignInWindow } from './sign-in-failure-store.ts'
import { createSignInPlaces } from './sign-in-places.ts'

const wrongMax = 5
const wrongFromAddressMax = 50
const windowMilliseconds = 5 * 60 * 1000
const blocksMax = 50_000

/**
 * Repeated wrong passwords for one account, or from one address, have to wait. They are counted in the database, by all nodes together; guesses
 * that are being looked at hold a place each, no more than may still be wrong, and the others wait for them: many at once gain nothing, and who
 * is right is never refused because others are.
 */
export interface LoginThrottle {
  /** What `look` answers: undefined means that the password was wrong. Raises `throttled`, `unavailable`, and what `look` raises. */
  guess<T>(email: string, address: string, look: () => Promise<T | undefined>): Promise<T | undefined>
}

interface ThrottleParts {
  readonly database: Database
  readonly now: () => Instant
  /** A clock that nobody sets, in milliseconds. */
  readonly steady?: () => number
}

export function createLoginThrottle({ database, now, steady = monotonicNow }: ThrottleParts): LoginThrottle {
  const places = createSignInPlaces()
  /** Until when a key is known to be refused: that needs no database. */
  const blocked = new Map<string, number>()

  function refuseBlocked(keys: readonly Limited[]): void {
    for (const { key } of keys) {
      const left = (blocked.get(key) ?? 0) - steady()
      if (left > 0) throw tooMany(left)
      blocked.delete(key)
    }
  }

  /** Refused from now on are those of which enough were wrong; raises for those of which more were. */
  function judge(keys: readonly Limited[], failures: readonly SignInFailures[], allowance: 0 | 1): void {
    let worst = 0
    for (const { key, max } of keys) {
      const found = failures.find(failure => failure.key === key)
      places.allow(key, max - (found?.count ?? 0))
      if (!found || found.count < max) continue
      const left = dateOf(found.since).getTime() + windowMilliseconds - dateOf(now()).getTime()
      if (blocked.size > blocksMax) blocked.clear()
      blocked.set(key, steady() + left)
      if (found.count >= max + allowance) worst = Math.max(worst, left)
    }
    if (worst > 0) throw tooMany(worst)
  }

  async function lookInTurn<T>(keys: readonly Limited[], look: () => Promise<T | undefined>): Promise<T | undefined> {
    refuseBlocked(keys)
    const names = keys.map(({ key }) => key)
    const before = await database.read(tx => tx.signInFailures.find(names, windowAt(now())))
    judge(keys, before, 0)
    const found = await look()
    if (found === undefined) {
      judge(keys, await database.transaction(tx => tx.signInFailures.add(names, windowAt(now()))), 1)
      return undefined
    }
    // Who knows the password starts anew; the address keeps what it got wrong with other accounts.
    const account = names[0] as string
    if (before.some(({ key }) => key === account)) await database.transaction(tx => tx.signInFailures.forget(account))
    return found
  }

  return {
    async guess(email, address, look) {
      const keys: readonly Limited[] = [
        { key: hashSecret(`email ${email.toLowerCase()}`), max: wrongMax },
        { key: hashSecret(`address ${address}`), max: wrongFromAddressMax },
      ]
      refuseBlocked(keys)
      const leave = await places.take(keys)
      return lookInTurn(keys, look).finally(leave)
    },
  }
}

/** Forgets wrong passwords that no longer count. */
export const trimSignInFailures: Job = {
  name: 'trim-sign-in-failures',
  async run({ now, transaction }) {
    await transaction(tx => tx.signInFailures.removeOutside(windowAt(now)))
  },
}

interface Limited {
  readonly key: string
  readonly max: number
}

const windowAt = (now: Instant): SignInWindow => ({ from: plusMilliseconds(now, -windowMilliseconds), to: now })

function tooMany(leftMilliseconds: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMilliseconds / 1000))
  return new Problem('throttled', `Too many failed sign-ins. Try again in ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  })
}
