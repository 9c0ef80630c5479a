import type { Instant } from '../../../instant.ts'

/** How a flag was used: its value was requested, its feature was seen, its feature was interacted with. */
export const usageKinds = ['called', 'viewed', 'interacted'] as const
export type UsageKind = (typeof usageKinds)[number]

/** A day in UTC, `YYYY-MM-DD`. */
export type Day = string
export const dayOf = (instant: Instant): Day => instant.slice(0, 10)

export interface UsageSeries {
  readonly flagKey: string
  readonly kind: UsageKind
  /** `true`, `false`, a variant key, `(other)` for values that the flag does not have, or empty when the event has no value. */
  readonly variant: string
  readonly day: Day
}

/** What a batch of events adds to a series. */
export interface UsageIncrement extends UsageSeries {
  readonly calls: number
  /** `userHash` of each user, without duplicates. */
  readonly userHashes: readonly number[]
  readonly lastAt: Instant
}

export interface UsagePoint {
  readonly variant: string
  readonly day: Day
  readonly calls: number
  /** Exact up to 10,000 users per series and day, estimated beyond (ADR 8). */
  readonly users: number
}

export interface UsageRange {
  readonly flagKey: string
  readonly kind: UsageKind
  /** First and last day, both inclusive. */
  readonly from: Day
  readonly to: Day
}

export interface RecentCalls {
  readonly lastAt: Instant
  readonly byDay: ReadonlyMap<Day, number>
}

/** What is counted of the uses of flags, in the database or in ClickHouse. */
export interface UsageStore {
  /** Series are read from ClickHouse: not within a transaction, which would hold its locks meanwhile. */
  readonly isExternal: boolean
  add(projectId: number, increments: readonly UsageIncrement[]): Promise<void>
  /** One point per variant and day with calls, ordered by day, then variant. */
  series(projectId: number, range: UsageRange): Promise<readonly UsagePoint[]>
  /** Distinct users over the range, by variant. Days whose users were removed are not included. */
  uniqueUsers(projectId: number, range: UsageRange): Promise<ReadonlyMap<string, number>>
  /** Last use of each flag of the project. Flags without such a use are not in the map. */
  lastUsed(projectId: number, kind: UsageKind): Promise<ReadonlyMap<string, Instant>>
  /** Keys of the flags that were called last, also of flags that were deleted since. */
  lastCalledKeys(projectId: number, limit: number): Promise<readonly string[]>
  /** Last call, and calls by day from a day on, of each of these flags. Flags without calls are not in the map. */
  recentCalls(projectId: number, flagKeys: readonly string[], from: Day): Promise<ReadonlyMap<string, RecentCalls>>
  /** Removes user hashes in the database before a day (the counts stay), for at most `limit` series. Returns the number of series. */
  removeUsersBefore(day: Day, limit: number): Promise<number>
  /** Removes at most `limit` series in the database before a day. Returns the number of series. */
  removeBefore(day: Day, limit: number): Promise<number>
}
