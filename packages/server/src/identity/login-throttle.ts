import { Problem } from '../problem.ts'
import { steadyNow } from '../steady-clock.ts'

const failuresMax = 5
const windowMilliseconds = 5 * 60 * 1000
const entriesMax = 50_000

/** Repeated wrong passwords for one account, or from one address, have to wait. Counted on this node. */
export interface LoginThrottle {
  /** Raises `throttled`. */
  check(email: string, address: string): void
  failed(email: string, address: string): void
  succeeded(email: string): void
}

export function createLoginThrottle(now: () => number = steadyNow): LoginThrottle {
  const failures = new Map<string, { count: number; since: number }>()
  const keysOf = (email: string, address: string) => [
    { key: `email ${email.toLowerCase()}`, max: failuresMax },
    { key: `address ${address}`, max: failuresMax * 10 },
  ]
  return {
    check(email, address) {
      for (const { key, max } of keysOf(email, address)) {
        const entry = failures.get(key)
        if (!entry || entry.count < max) continue
        const left = entry.since + windowMilliseconds - now()
        if (left <= 0) failures.delete(key)
        else {
          const retryAfterSeconds = Math.ceil(left / 1000)
          throw new Problem('throttled', `Too many failed sign-ins. Try again in ${retryAfterSeconds} seconds.`, {
            retryAfterSeconds,
          })
        }
      }
    },
    failed(email, address) {
      if (failures.size > entriesMax) failures.clear()
      for (const { key } of keysOf(email, address)) {
        const entry = failures.get(key)
        if (entry && now() - entry.since < windowMilliseconds) entry.count += 1
        else failures.set(key, { count: 1, since: now() })
      }
    },
    succeeded(email) {
      failures.delete(`email ${email.toLowerCase()}`)
    },
  }
}
