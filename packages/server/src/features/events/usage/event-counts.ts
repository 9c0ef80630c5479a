import type { Instant } from '../../../instant.ts'

/** Minutes since 1970. */
export type Minute = number
export const minuteOf = (instant: Instant): Minute => Math.floor(Date.parse(instant) / 60_000)

/** For how long counts by minute are kept: a week to look at, and a day to spare. */
export const eventCountDaysMax = 8

export interface EventCount {
  readonly event: string
  /** Empty: all events of the name. Else only those whose sender had this value of the flag. */
  readonly flagKey: string
  readonly flagValue: string
  readonly minute: Minute
  readonly count: number
}

export interface EventCountQuery {
  readonly event: string
  /**
   * Only events whose sender had the flag on (any value but `false`), or exactly this value. Counted for flags that have rollback
   * conditions, from events that carry `$feature/<key>`.
   */
  readonly flag?: { readonly key: string; readonly value?: string }
  readonly from: Instant
  /** Not included. */
  readonly to: Instant
}

/** How often events happened, by minute: what automatic rollback looks at. */
export interface EventCountStore {
  add(projectId: number, counts: readonly EventCount[]): Promise<void>
  sum(projectId: number, query: EventCountQuery): Promise<number>
  /** By minute; minutes without any are left out. */
  series(
    projectId: number,
    query: EventCountQuery,
  ): Promise<readonly { readonly minute: Minute; readonly count: number }[]>
  /** Event names counted since a moment, sorted. */
  listNames(projectId: number, since: Instant): Promise<readonly string[]>
  /** Forgets minutes before this one; answers how many counts. */
  removeBefore(minute: Minute): Promise<number>
}
