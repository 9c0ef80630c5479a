import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'

/**
 * The memory of one process for large request bodies and answers, as long as they are coming, worked on or going. Without it a thousand
 * connections that dribble twenty megabytes each, or a thousand small bodies that unpack to so much, would take all memory there is.
 */
export interface BodyMemoryBudget {
  /** For one body; `giveWay` is called at most once, when it is the one that has to go. */
  enter(giveWay: (why: Problem) => void): BodyReservation
  /** Unpacks, a few bodies at a time: those that wait their turn are still small. */
  unpack(work: () => Promise<Buffer>): Promise<Buffer>
  readonly heldBytes: number
}

export interface BodyReservation {
  /** Raises `unavailable` when there is no room for so much more. */
  take(bytes: number): void
  /** All of it is here: it gives way to nobody any more. */
  settle(): void
  leave(): void
}

/** Smaller bodies need no place: there is a limit to how many requests are answered at once. */
export const freeBodyBytes = 64 * 1024

const unpackingMax = 4
/** A body that has been coming for longer gives way to one that comes now; otherwise those that came first stay. */
const slowMilliseconds = 5000

const full = (): Problem =>
  new Problem('unavailable', 'This server holds as many large requests and answers as it can. Try again in a moment.', {
    retryAfterSeconds: 5,
  })

export function createBodyMemoryBudget(bytesMax: number, now: () => number = monotonicNow): BodyMemoryBudget {
  /** Those still coming, the oldest first. */
  const coming = new Map<BodyReservation, { readonly since: number; readonly giveWay: (why: Problem) => void }>()
  let held = 0

  /** Sends slow bodies away until there is room, and answers whether there is. */
  function makeRoom(bytes: number, asking: BodyReservation): boolean {
    for (const [place, { since, giveWay }] of coming) {
      if (held + bytes <= bytesMax || place === asking || now() - since < slowMilliseconds) break
      place.leave()
      giveWay(full())
    }
    return held + bytes <= bytesMax
  }

  const unpacking = new Semaphore({ permits: unpackingMax })
  return {
    enter(giveWay) {
      let own = 0
      const place: BodyReservation = {
        take(bytes) {
          if (held + bytes > bytesMax && !makeRoom(bytes, place)) throw full()
          held += bytes
          own += bytes
        },
        settle: () => void coming.delete(place),
        leave() {
          coming.delete(place)
          held -= own
          own = 0
        },
      }
      coming.set(place, { since: now(), giveWay })
      return place
    },
    unpack: work => unpacking.run(work),
    get heldBytes() {
      return held
    },
  }
}
