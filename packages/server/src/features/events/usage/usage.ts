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
