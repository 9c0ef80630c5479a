/** How many entries there are up to one of them. None appears before it any more, so that only those behind it have to be counted. */
export interface SettledCount {
  readonly upTo: number
  readonly count: number
}

/** Remembers settled counts by what was asked for; whoever was not asked for longest is forgotten first. */
export interface ActivityCounts {
  find(asked: string): SettledCount
  keep(asked: string, settled: SettledCount): void
}

const nothingYet: SettledCount = { upTo: 0, count: 0 }
const countsMax = 1000

export function createActivityCounts(): ActivityCounts {
  const counts = new Map<string, SettledCount>()
  return {
    find(asked) {
      const settled = counts.get(asked)
      if (!settled) return nothingYet
      counts.delete(asked)
      counts.set(asked, settled)
      return settled
    },
    keep(asked, settled) {
      counts.delete(asked)
      counts.set(asked, settled)
      if (counts.size > countsMax) counts.delete(counts.keys().next().value as string)
    },
  }
}
