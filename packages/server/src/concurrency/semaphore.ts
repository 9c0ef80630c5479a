import { Problem } from '../problem.ts'

/** So many at once; the others wait for a place, and not for ever. */
export interface Semaphore {
  /** Raises `unavailable` when the queue is full, or no slot became free in time. */
  take(): Promise<() => void>
}

interface SemaphoreOptions {
  /** More than this many are refused at once instead of queued. */
  readonly waitersMax?: number
  readonly refusal?: string
}

export function createSemaphore(
  placesMax: number,
  waitMillisecondsMax: number,
  {
    waitersMax = Number.POSITIVE_INFINITY,
    refusal = 'Too many changes are waiting for the database; nothing was changed. Try again.',
  }: SemaphoreOptions = {},
): Semaphore {
  const refused = () => new Problem('unavailable', refusal, { retryAfterSeconds: 1 })
  const waiting = new Set<() => void>()
  let taken = 0

  function leave(): void {
    taken -= 1
    const [next] = waiting
    next?.()
  }

  /** Each place is given back once, however often it is said. */
  function enter(): () => void {
    taken += 1
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      leave()
    }
  }

  return {
    async take() {
      if (taken < placesMax) return enter()
      if (waiting.size >= waitersMax) throw refused()
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(comeIn)
          reject(refused())
        }, waitMillisecondsMax)
        const comeIn = () => {
          waiting.delete(comeIn)
          clearTimeout(timer)
          resolve(enter())
        }
        waiting.add(comeIn)
      })
    },
  }
}
