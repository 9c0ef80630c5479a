import { InvalidatedCache } from '../../concurrency/invalidated-cache.ts'

/** How many entries there are up to one of them. None appears before it any more, so that only those behind it have to be counted. */
export interface SettledCount {
  readonly upTo: number
  readonly count: number
}

/** Caches settled counts by their filter. */
export interface ActivityCounts {
  find(asked: string): SettledCount
  keep(asked: string, settled: SettledCount): void
  /** After a failover the entries may be others. */
  clear(): void
}

const nothingYet: SettledCount = { upTo: 0, count: 0 }
const countsMax = 1000

export function createActivityCounts(): ActivityCounts {
  const counts = new InvalidatedCache<SettledCount>({ sizeMax: countsMax })
  return {
    find: asked => counts.peek(asked) ?? nothingYet,
    keep: (asked, settled) => counts.set(asked, settled),
    clear: () => counts.clear(),
  }
}
