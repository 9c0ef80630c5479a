import { Problem } from '../problem.ts'

export interface SemaphoreOptions {
  /** How many hold it at once. */
  readonly permits: number
  /** How many wait for a permit; a further one is rejected at once. */
  readonly queueMax?: number
  /** How long one waits for a permit. */
  readonly waitMillisecondsMax?: number
  /** What a rejected caller reads. */
  readonly message?: string
}

/** A bounded number of holders at a time; the others wait in the order of arrival, within limits. */
export class Semaphore {
  readonly #options: Required<Omit<SemaphoreOptions, 'waitMillisecondsMax'>> & SemaphoreOptions
  readonly #waiting = new Set<() => void>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = {
      queueMax: Number.POSITIVE_INFINITY,
      message: 'Too many requests are waiting; nothing was changed. Try again.',
      ...options,
    }
  }

  /** Resolves with the function that releases the permit. Raises `unavailable` when the queue is full or the wait too long. */
  async acquire(): Promise<() => void> {
    const { permits, queueMax, waitMillisecondsMax } = this.#options
    if (this.#held < permits) return this.#grant()
    if (this.#waiting.size >= queueMax) throw this.#tooMany()
    return new Promise((resolve, reject) => {
      const timer =
        waitMillisecondsMax === undefined
          ? undefined
          : setTimeout(() => {
              this.#waiting.delete(proceed)
              reject(this.#tooMany())
            }, waitMillisecondsMax)
      const proceed = () => {
        this.#waiting.delete(proceed)
        clearTimeout(timer)
        resolve(this.#grant())
      }
      this.#waiting.add(proceed)
    })
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** A permit is released once, however often its function is called. */
  #grant(): () => void {
    this.#held += 1
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#held -= 1
      const [next] = this.#waiting
      next?.()
    }
  }

  #tooMany(): Problem {
    return new Problem('unavailable', this.#options.message, { retryAfterSeconds: 1 })
  }
}
