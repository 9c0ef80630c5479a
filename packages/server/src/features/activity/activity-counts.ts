import { InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'

/** The number of entries up to an id. No entry can appear below it any more, so that only newer ones have to be counted. */
export interface SettledCount {
  /** The oldest entry of the table when it was counted: when that is removed, the count no longer holds. */
  readonly from: number
  readonly upTo: number
  readonly count: number
}

/** LRU cache of settled counts by filter. */
export interface ActivityCounts {
  find(filter: string): SettledCount
  store(filter: string, settled: SettledCount): void
  /** After a failover the entries may differ. */
  clear(): void
}

export const noneSettled: SettledCount = { from: 0, upTo: 0, count: 0 }
const countsMax = 1000

export function createActivityCounts(): ActivityCounts {
  const counts = new InvalidatedCache<SettledCount>({ sizeMax: countsMax })
  return {
    find: filter => counts.peek(filter) ?? noneSettled,
    store: (filter, settled) => counts.set(filter, settled),
    clear: () => counts.clear(),
  }
}
