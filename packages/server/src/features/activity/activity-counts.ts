/** The number of entries up to an id. No entry can appear below it any more, so that only newer ones have to be counted. */
export interface SettledCount {
  readonly upTo: number
  readonly count: number
}

/** LRU cache of settled counts by filter. */
export interface ActivityCounts {
  find(filter: string): SettledCount
  store(filter: string, settled: SettledCount): void
}

const noneSettled: SettledCount = { upTo: 0, count: 0 }
const countsMax = 1000

export function createActivityCounts(): ActivityCounts {
  const counts = new Map<string, SettledCount>()
  return {
    find(filter) {
      const settled = counts.get(filter)
      if (!settled) return noneSettled
      counts.delete(filter)
      counts.set(filter, settled)
      return settled
    },
    store(filter, settled) {
      counts.delete(filter)
      counts.set(filter, settled)
      if (counts.size > countsMax) counts.delete(counts.keys().next().value as string)
    },
  }
}
