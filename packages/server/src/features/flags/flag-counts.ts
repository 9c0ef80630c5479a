import { InvalidatedCache } from '../../concurrency/invalidated-cache.ts'

/**
 * How many live flags projects have, without counting them at every write. No flag comes to life without an entry in the change log, so a
 * project has at most as many as were counted once, and one more for each change since, whatever that was about.
 */
export interface FlagCounts {
  /** At most so many when the newest change has this number; infinity when they were never counted. */
  atMost(projectId: number, newestChange: number): number
  keep(projectId: number, count: number, newestChange: number): void
  /** After a failover the change log assigns the same sequences to other changes. */
  clear(): void
}

const projectsMax = 10_000
/** Changes that were visible to the count may still be rolled back, and their sequences assigned to others. */
const rolledBackMax = 1000

export function createFlagCounts(): FlagCounts {
  const counted = new InvalidatedCache<{ readonly count: number; readonly newestChange: number }>({
    sizeMax: projectsMax,
  })
  return {
    atMost(projectId, newestChange) {
      const then = counted.peek(String(projectId))
      return then ? then.count + newestChange - then.newestChange + rolledBackMax : Number.POSITIVE_INFINITY
    },
    keep(projectId, count, newestChange) {
      counted.set(String(projectId), { count, newestChange })
    },
    clear: () => counted.clear(),
  }
}
