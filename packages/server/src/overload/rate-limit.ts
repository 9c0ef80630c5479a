import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { Problem } from '../problem.ts'
import { InvalidatedCache } from '../storage/changes/invalidated-cache.ts'
import { noWorkerBus, type WorkerBus } from '../worker-bus.ts'

export interface RateLimiter {
  /** Raises `throttled` when the key has used up its minute. */
  take(key: string): void
}

const windowMilliseconds = 60_000
const keysMax = 100_000
/** Sibling workers receive counts at most this often: a message per request would cost more than the requests. */
const publishMilliseconds = 100

/** Limits requests per minute and key, counted by all workers together. Without a limit nothing is counted. */
export function createRateLimiter(
  perMinute: number | undefined,
  bus: WorkerBus = noWorkerBus,
  now: () => number = monotonicNow,
): RateLimiter {
  if (perMinute === undefined) return { take() {} }
  const windows = new InvalidatedCache<{ start: number; count: number }>({ sizeMax: keysMax })
  const unpublished = createUnpublished(bus)

  function count(key: string, requests: number): { start: number; count: number } {
    const time = now()
    const current = windows.peek(key)
    if (current && time - current.start < windowMilliseconds) {
      current.count += requests
      return current
    }
    const next = { start: time, count: requests }
    windows.set(key, next)
    return next
  }

  bus.subscribe('requests', message => {
    for (const [key, requests] of Object.entries(message as Record<string, number>)) count(key, requests)
  })

  return {
    take(key) {
      const window = count(key, 1)
      // Refused requests are not published: siblings would count them against the key's next minute.
      if (window.count <= perMinute) return unpublished.add(key)
      const retryAfterSeconds = Math.ceil((window.start + windowMilliseconds - now()) / 1000)
      throw new Problem('throttled', `Too many requests with this key. Try again in ${retryAfterSeconds} seconds.`, {
        retryAfterSeconds,
      })
    },
  }
}

/** Counts that the sibling workers have not received yet. */
function createUnpublished(bus: WorkerBus) {
  if (bus.ownName === undefined) return { add() {} }
  let counts = new Map<string, number>()
  const publish = () => {
    bus.publish('requests', Object.fromEntries(counts))
    counts = new Map()
  }
  return {
    add(key: string): void {
      if (counts.size === 0) setTimeout(publish, publishMilliseconds).unref()
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
}
