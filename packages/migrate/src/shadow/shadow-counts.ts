/** How often another service and Halyard had the same value for a flag, in one report or on one day. */
export interface ShadowCount {
  readonly flagId: number
  readonly agree: number
  readonly differ: number
  /** Evaluations that Halyard failed to make; they are not compared. */
  readonly failed: number
  /** One of the evaluations that differ. */
  readonly example: ShadowExample | null
}

export interface ShadowExample {
  readonly there: unknown
  readonly here: unknown
  readonly distinctId: string
}

/** A flag of a report, as applications send it. */
export interface ReportedFlag {
  readonly key: string
  readonly agree: number
  readonly differ: number
  readonly failed?: number
  readonly example?: { readonly there: unknown; readonly here: unknown; readonly distinct_id: string } | null
}

/** By key, each flag once; flags without an id are left out. */
export function countsByFlag(
  reported: readonly ReportedFlag[],
  ids: ReadonlyMap<string, number>,
): ReadonlyMap<string, ShadowCount> {
  const counts = new Map<string, ShadowCount>()
  for (const { key, agree, differ, failed = 0, example } of reported) {
    const flagId = ids.get(key)
    if (flagId === undefined) continue
    const sum = counts.get(key)
    const shown = example && { there: example.there, here: example.here, distinctId: example.distinct_id }
    counts.set(key, {
      flagId,
      agree: agree + (sum?.agree ?? 0),
      differ: differ + (sum?.differ ?? 0),
      failed: failed + (sum?.failed ?? 0),
      example: shown ?? sum?.example ?? null,
    })
  }
  return counts
}

export interface ShadowDay extends Omit<ShadowCount, 'flagId'> {
  readonly day: string
  /** When the newest difference was reported. */
  readonly differedAt: string | null
}

export interface ShadowTotals {
  readonly agree: number
  readonly differ: number
  readonly failed: number
  /** First day with comparisons. */
  readonly since: string | null
  readonly lastDifference: (ShadowExample & { readonly at: string }) | null
}

/** Of the days of one flag, in their order. */
export function totalsOf(days: readonly ShadowDay[]): ShadowTotals {
  const last = days.findLast(({ example }) => example !== null)
  const sum = (field: 'agree' | 'differ' | 'failed') => days.reduce((total, day) => total + day[field], 0)
  return {
    agree: sum('agree'),
    differ: sum('differ'),
    failed: sum('failed'),
    since: days[0]?.day ?? null,
    lastDifference: last ? { ...last.example!, at: last.differedAt! } : null,
  }
}
