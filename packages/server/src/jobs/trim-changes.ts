import { type Instant, plusMilliseconds } from '../instant.ts'
import type { Change } from '../storage/changes/changes.ts'
import type { Job } from './job-runner.ts'

/** A node that sleeps no longer than this reads what it missed; one that sleeps longer starts anew. */
export const changesKeptHours = 24
/** However old they are, so that a node that sleeps while little happens need not start anew. */
export const changesKeptMin = 1000
/** In one transaction, so that nobody waits long for the database; and so many of those in one turn. */
const removedAtOnceMax = 1000
const removalsMax = 20

const hourMilliseconds = 60 * 60 * 1000

/** Forgets changes that every node has heard of. Whoever has not is told by the gap in the sequence. */
export const trimChanges: Job = {
  name: 'trim-changes',
  async run({ now, read, transaction }) {
    for (let removals = 0; removals < removalsMax; removals += 1) {
      const last = await read(async tx => {
        const dispensable = (await tx.changes.head()) - changesKeptMin
        return lastToForget(await tx.changes.listOldest(removedAtOnceMax), dispensable, now)
      })
      if (last === undefined) return
      await transaction(tx => tx.changes.removeUpTo(last))
    }
  },
}

/** A change that claims to be of tomorrow was written by a clock that was wrong; it keeps nothing else from being forgotten. */
function lastToForget(
  oldest: readonly Pick<Change, 'sequence' | 'at'>[],
  dispensable: number,
  now: Instant,
): number | undefined {
  const keptFrom = plusMilliseconds(now, -changesKeptHours * hourMilliseconds)
  const keptTo = plusMilliseconds(now, changesKeptHours * hourMilliseconds)
  return oldest.findLast(({ sequence, at }) => sequence <= dispensable && (at < keptFrom || at > keptTo))?.sequence
}
