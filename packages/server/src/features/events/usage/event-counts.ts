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

/** Event counts by minute, the input of automatic rollback and of charts. */
export interface EventCountStore {
  add(projectId: number, counts: readonly EventCount[]): Promise<void>
  /** Always of the database: rollback conditions do not depend on ClickHouse. */
  sum(projectId: number, query: EventCountQuery): Promise<number>
  /** Of the database. Ordered by minute; minutes without events are omitted. */
  series(
    projectId: number,
    query: EventCountQuery,
  ): Promise<readonly { readonly minute: Minute; readonly count: number }[]>
  /** All events of these names, whatever flags they carried. */
  listByMinute(
    projectId: number,
    events: readonly string[],
    range: { readonly from: Minute; readonly to: Minute },
  ): Promise<readonly { readonly event: string; readonly minute: Minute; readonly count: number }[]>
  /** Of the database. How often each of these events carried the flag. */
  totalsWithFlag(
    projectId: number,
    flagKey: string,
    events: readonly string[],
    range: { readonly from: Minute; readonly to: Minute },
  ): Promise<readonly { readonly event: string; readonly count: number }[]>
  /** Of the database. By the value that the event carried, and by the minute in which the hour begins. */
  listByValue(
    projectId: number,
    counted: { readonly flagKey: string; readonly event: string },
    range: { readonly from: Minute; readonly to: Minute },
  ): Promise<readonly { readonly value: string; readonly hour: Minute; readonly count: number }[]>
  /** Of the database. Sorted names of the events counted since an instant. */
  listNames(projectId: number, since: Instant): Promise<readonly string[]>
  /** Deletes the counts of the database before this minute and returns their number. */
  removeBefore(minute: Minute): Promise<number>
}
