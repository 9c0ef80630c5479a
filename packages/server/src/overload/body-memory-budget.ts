import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'

/**
 * The memory that one process spends on large request bodies and responses while they are received, processed and sent. Without a
 * limit, a thousand connections that dribble twenty megabytes each, or a thousand small bodies that inflate to as much, would take
 * all memory there is.
 */
export interface BodyMemoryBudget {
  /** For one body; `onEvicted` is called at most once, when it has to make way for others. */
  reserve(onEvicted: (why: Problem) => void): BodyReservation
  /** Decompresses, a few bodies at a time: those that wait are still small. */
  inflate(work: () => Promise<Buffer>): Promise<Buffer>
  /** Counts a body that was decompressed synchronously. */
  countInflate(): void
  readonly heldBytes: number
  readonly inflatesTotal: number
}

export interface BodyReservation {
  /** Raises `unavailable` when the budget is used up. */
  grow(bytes: number): void
  /** All of the body has arrived: it cannot be evicted any more. */
  complete(): void
  release(): void
}

/** Smaller bodies need no reservation: the number of concurrent requests is limited. */
export const freeBodyBytes = 64 * 1024

const concurrentInflatesMax = 4
const inflateWaitMillisecondsMax = 10_000
/** A body that takes longer to arrive makes way for a new one; otherwise the older ones stay. */
const slowMilliseconds = 5000

const exhausted = (): Problem =>
  new Problem('unavailable', 'The memory budget for large requests is exhausted. Try again in a few seconds.', {
    retryAfterSeconds: 5,
  })

export function createBodyMemoryBudget(bytesMax: number, now: () => number = monotonicNow): BodyMemoryBudget {
  /** Bodies that are still arriving, the oldest first. */
  const arriving = new Map<BodyReservation, { readonly since: number; readonly onEvicted: (why: Problem) => void }>()
  const inflating = new Semaphore({
    permits: concurrentInflatesMax,
    waitMillisecondsMax: inflateWaitMillisecondsMax,
    message: exhausted().message,
  })
  let held = 0
  let inflates = 0

  /** Evicts slow bodies until there is enough memory, and returns whether there is. */
  function evictFor(bytes: number, requester: BodyReservation): boolean {
    for (const [reservation, { since, onEvicted }] of arriving) {
      if (held + bytes <= bytesMax || reservation === requester || now() - since < slowMilliseconds) break
      reservation.release()
      onEvicted(exhausted())
    }
    return held + bytes <= bytesMax
  }

  return {
    reserve(onEvicted) {
      let own = 0
      const reservation: BodyReservation = {
        grow(bytes) {
          if (held + bytes > bytesMax && !evictFor(bytes, reservation)) throw exhausted()
          held += bytes
          own += bytes
        },
        complete: () => void arriving.delete(reservation),
        release() {
          arriving.delete(reservation)
          held -= own
          own = 0
        },
      }
      arriving.set(reservation, { since: now(), onEvicted })
      return reservation
    },
    inflate: work =>
      inflating.run(() => {
        inflates += 1
        return work()
      }),
    countInflate() {
      inflates += 1
    },
    get heldBytes() {
      return held
    },
    get inflatesTotal() {
      return inflates
    },
  }
}
