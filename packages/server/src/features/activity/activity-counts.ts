/** The number of entries up to one of them. Entries are append-only, so only those after it need counting. */
export interface SettledCount {
  readonly upTo: number
  readonly count: number
}

/** An LRU cache of settled counts by query. */
export interface ActivityCounts {
  get(query: string): SettledCount
  set(query: string, settled: SettledCount): void
}

const noEntries: SettledCount = { upTo: 0, count: 0 }
const countsMax = 1000

export function createActivityCounts(): ActivityCounts {
  const counts = new Map<string, SettledCount>()
  return {
    get(query) {
      const settled = counts.get(query)
      if (!settled) return noEntries
      counts.delete(query)
      counts.set(query, settled)
      return settled
    },
    set(query, settled) {
      counts.delete(query)
      counts.set(query, settled)
      if (counts.size > countsMax) counts.delete(counts.keys().next().value as string)
    },
  }
}
