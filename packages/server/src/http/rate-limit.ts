import { Problem } from '../problem.ts'
import { steadyNow } from '../steady-clock.ts'

export interface RateLimiter {
  /** Raises `throttled` when the key has used up its minute. */
  take(key: string): void
}

const windowMilliseconds = 60_000
const keysMax = 100_000

/** So many requests a minute and key, counted on this node. Without a limit nothing is counted. */
export function createRateLimiter(perMinute: number | undefined, now: () => number = steadyNow): RateLimiter {
  if (perMinute === undefined) return { take() {} }
  const windows = new Map<string, { start: number; count: number }>()
  return {
    take(key) {
      const time = now()
      const current = windows.get(key)
      if (!current || time - current.start >= windowMilliseconds) {
        if (windows.size >= keysMax) windows.clear()
        windows.set(key, { start: time, count: 1 })
        return
      }
      current.count += 1
      if (current.count <= perMinute) return
      const retryAfterSeconds = Math.ceil((current.start + windowMilliseconds - time) / 1000)
      throw new Problem('throttled', `Too many requests with this key. Try again in ${retryAfterSeconds} seconds.`, {
        retryAfterSeconds,
      })
    },
  }
}
