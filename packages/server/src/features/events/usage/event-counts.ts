import type { Instant } from '../../../instant.ts'

/** Minutes since the Unix epoch. */
export type Minute = number
export const minuteOf = (instant: Instant): Minute => Math.floor(Date.parse(instant) / 60_000)

/** The first minute of the hour. */
export const startOfHour = (minute: Minute): Minute => minute - (minute % 60)

/** Retention of the counts by minute: a week, and one day of margin. */
export const eventCountDaysMax = 8

export interface EventCount {
  readonly event: string
  /** Empty: all events of the name. Otherwise only events that carried this value of the flag. */
  readonly flagKey: string
  readonly flagValue: string
  readonly minute: Minute
  readonly count: number
}

export interface EventCountQuery {
  readonly event: string
  /**
   * Only events that carried the flag as on (any value but `false`), or with exactly this value. Counted for flags that have rollback
   * conditions, from events that carry `$feature/<key>`, and by the hour for a few that are rolled out.
   */
  readonly flag?: { readonly key: string; readonly value?: string }
  readonly from: Instant
  /** Exclusive. */
  readonly to: Instant
}
