import { Problem } from '../problem.ts'

/** So many at once; the others wait for a place, and not for ever. */
export interface Semaphore {
  /** Raises `unavailable` when no place became free in time. */
  take(): Promise<() => void>
}

export function createSemaphore(placesMax: number, waitMillisecondsMax: number): Semaphore {
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
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(comeIn)
          reject(
            new Problem(
              'unavailable',
              'Too many changes are waiting for the database; nothing was changed. Try again.',
              {
                retryAfterSeconds: 1,
              },
            ),
          )
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
