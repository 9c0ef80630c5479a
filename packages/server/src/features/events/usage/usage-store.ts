import type { Instant } from '../../../instant.ts'

/** How a flag was used: asked for its value, seen by somebody, acted upon by somebody. */
export const usageKinds = ['called', 'viewed', 'interacted'] as const
export type UsageKind = (typeof usageKinds)[number]

/** A day in UTC, `YYYY-MM-DD`. */
export type Day = string
export const dayOf = (instant: Instant): Day => instant.slice(0, 10)

export interface UsageSeries {
  readonly flagKey: string
  readonly kind: UsageKind
  /** `true`, `false`, a variant's key, `(other)` for values that the flag does not have, or empty when no value was told. */
  readonly variant: string
  readonly day: Day
}

/** What a batch of events adds to a series. */
export interface UsageIncrement extends UsageSeries {
  readonly calls: number
  /** `userHash` of each user seen, without repetition. */
  readonly userHashes: readonly number[]
  readonly lastAt: Instant
}

export interface UsagePoint {
  readonly variant: string
  readonly day: Day
  readonly calls: number
  /** Exact up to 10,000 users a series and day, an estimate beyond (ADR 8). */
  readonly users: number
}

export interface UsageRange {
  readonly flagKey: string
  readonly kind: UsageKind
  /** First and last day, both included. */
  readonly from: Day
  readonly to: Day
}

export interface UsageStore {
  add(projectId: number, increments: readonly UsageIncrement[]): Promise<void>
  /** One point for each variant and day with calls, by day, then variant. */
  series(projectId: number, range: UsageRange): Promise<readonly UsagePoint[]>
  /** Distinct users over the whole range, by variant; days whose users are forgotten already (after 31 days) are left out. */
  uniqueUsers(projectId: number, range: UsageRange): Promise<ReadonlyMap<string, number>>
  /** When each of the project's flags was last used in this way; flags that never were are not in the map. */
  lastUsed(projectId: number, kind: UsageKind): Promise<ReadonlyMap<string, Instant>>
  /** Forgets who the users were before a day (their number stays), at most `limit` series. Answers how many series. */
  forgetUsersBefore(day: Day, limit: number): Promise<number>
  /** Forgets whole days before a day, at most `limit` series. Answers how many series. */
  removeBefore(day: Day, limit: number): Promise<number>
}
