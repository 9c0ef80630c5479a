import { InvalidatedCache } from '../concurrency/invalidated-cache.ts'
import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { Problem } from '../problem.ts'
import { noWorkerBus, type WorkerBus } from '../worker-bus.ts'

export interface RateLimiter {
  /** Raises `throttled` when the key has used up its minute. */
  take(key: string): void
}

const windowMilliseconds = 60_000
const keysMax = 100_000
/** The other processes are told at most so often: a word for each request would cost more than the requests. */
const tellMilliseconds = 100

/** So many requests a minute and key, counted by all processes on this machine together. Without a limit nothing is counted. */
export function createRateLimiter(
  perMinute: number | undefined,
  peers: WorkerBus = noWorkerBus,
  now: () => number = monotonicNow,
): RateLimiter {
  if (perMinute === undefined) return { take() {} }
  const windows = new InvalidatedCache<{ start: number; count: number }>({ sizeMax: keysMax })
  const untold = createUntold(peers)

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
  peers.onTold('requests', word => {
    for (const [key, requests] of Object.entries(word as Record<string, number>)) count(key, requests)
  })

  return {
    take(key) {
      const window = count(key, 1)
      // What is refused is not told: it would be counted against the key in the others' next minute.
      if (window.count <= perMinute) return untold.add(key)
      const retryAfterSeconds = Math.ceil((window.start + windowMilliseconds - now()) / 1000)
      throw new Problem('throttled', `Too many requests with this key. Try again in ${retryAfterSeconds} seconds.`, {
        retryAfterSeconds,
      })
    },
  }
}

/** What the other processes have not heard of yet. */
function createUntold(peers: WorkerBus) {
  if (peers.ownName === undefined) return { add() {} }
  let counts = new Map<string, number>()
  const tell = () => {
    peers.tell('requests', Object.fromEntries(counts))
    counts = new Map()
  }
  return {
    add(key: string): void {
      if (counts.size === 0) setTimeout(tell, tellMilliseconds).unref()
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
}
