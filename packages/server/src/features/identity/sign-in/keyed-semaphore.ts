import { Problem } from '../../../problem.ts'

/** A semaphore for each key: how many guesses are checked at once for one account or from one address. */
export interface KeyedSemaphore {
  /** Resolves with the release when every key has a free slot. Raises `throttled` when the queue of a key is full. */
  acquire(keys: readonly { readonly key: string; readonly max: number }[]): Promise<() => void>
  /** Sets how many slots a key has, but at least one. */
  resize(key: string, slots: number): void
}

interface Slots {
  count: number
  taken: number
  readonly waiting: (() => void)[]
}

const waitersMax = 100

export function createKeyedSemaphore(): KeyedSemaphore {
  const slotsByKey = new Map<string, Slots>()

  async function acquireOne(key: string, max: number): Promise<void> {
    const slots = slotsByKey.get(key) ?? { count: max, taken: 0, waiting: [] }
    slotsByKey.set(key, slots)
    if (slots.taken < slots.count) {
      slots.taken += 1
      return
    }
    if (slots.waiting.length >= waitersMax) {
      throw new Problem('throttled', 'Too many sign-ins at once. Try again in 1 second.', { retryAfterSeconds: 1 })
    }
    await new Promise<void>(resolve => slots.waiting.push(resolve))
  }

  function releaseOne(key: string): void {
    const slots = slotsByKey.get(key)
    if (!slots) return
    slots.taken -= 1
    while (slots.taken < slots.count && slots.waiting.length > 0) {
      slots.taken += 1
      slots.waiting.shift()?.()
    }
    if (slots.taken === 0 && slots.waiting.length === 0) slotsByKey.delete(key)
  }

  return {
    async acquire(keys) {
      const acquired: string[] = []
      const release = () => {
        for (const key of acquired.splice(0)) releaseOne(key)
      }
      try {
        for (const { key, max } of keys) {
          await acquireOne(key, max)
          acquired.push(key)
        }
      } catch (error) {
        release()
        throw error
      }
      return release
    },
    resize(key, count) {
      const slots = slotsByKey.get(key)
      if (slots) slots.count = Math.max(1, count)
    },
  }
}
