import { type Instant, plusMilliseconds } from '../instant.ts'
import type { Change } from '../storage/changes/changes.ts'
import type { Stores } from '../stores.ts'
import type { Job } from './job-runner.ts'

/** A node that was suspended for less than this reads the changes it missed; after longer it reloads everything. */
export const changesRetainedHours = 24
/** Retained whatever their age, so that a suspended node need not reload everything when little has changed. */
export const changesRetainedMin = 1000
/** Per transaction, so that writers wait only briefly; and the number of transactions per run. */
const removedAtOnceMax = 1000
const removalsMax = 20

const hourMilliseconds = 60 * 60 * 1000

/** Deletes changes that every node has applied. A node that has not detects the gap in the sequence. */
export const trimChanges: Job = {
  name: 'trim-changes',
  async run({ now, read, transaction, people }) {
    await trim(now, read, transaction)
    if (people.isSeparate) await trim(now, people.read, people.transaction)
  },
}

interface WithChanges {
  readonly changes: Stores['changes']
}
type Run = <T>(work: (tx: WithChanges) => Promise<T>) => Promise<T>

async function trim(now: Instant, read: Run, transaction: Run): Promise<void> {
  for (let removals = 0; removals < removalsMax; removals += 1) {
    const last = await read(async tx => {
      const dispensable = (await tx.changes.head()) - changesRetainedMin
      return lastToForget(await tx.changes.listOldest(removedAtOnceMax), dispensable, now)
    })
    if (last === undefined) return
    await transaction(tx => tx.changes.removeUpTo(last))
  }
}

/** A timestamp in the future comes from a wrong clock; it must not block the deletion of other changes. */
function lastToForget(
  oldest: readonly Pick<Change, 'sequence' | 'at'>[],
  dispensable: number,
  now: Instant,
): number | undefined {
  const keptFrom = plusMilliseconds(now, -changesRetainedHours * hourMilliseconds)
  const keptTo = plusMilliseconds(now, changesRetainedHours * hourMilliseconds)
  return oldest.findLast(({ sequence, at }) => sequence <= dispensable && (at < keptFrom || at > keptTo))?.sequence
}
