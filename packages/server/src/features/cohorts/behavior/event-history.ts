import type { CountedEvent } from '../../../domain/counted-event.ts'

/** How far the history of an event has been read from ClickHouse. */
export interface EventHistoryReading {
  readonly projectId: number
  readonly event: CountedEvent
  readonly historyId: number
  /** The last distinct id that is done; empty before the first. */
  readonly after: string
  /** How many distinct ids are done. */
  readonly ids: number
  /** How many there were at the start; null before it. */
  readonly totalIds: number | null
}

export interface HistoryProgress {
  /** The first day (UTC) of which everything is known. */
  readonly from: string
  /** 100 when it is complete. */
  readonly percent: number
}

/** The days of a person's history. */
export interface PersonHistory {
  readonly personId: number
  /** All distinct ids that the person had when the history was read. */
  readonly distinctIds: readonly string[]
  /** Days since 1970-01-01 in UTC, with the number of events. */
  readonly days: ReadonlyMap<number, number>
}
