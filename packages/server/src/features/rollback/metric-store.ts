import type { Instant } from '../../instant.ts'

/** Pushed samples of one name, added up. */
export interface SampleSum {
  readonly samples: number
  readonly total: number
  readonly lowest: number
  readonly highest: number
}

export interface Samples extends SampleSum {
  readonly name: string
  /** `YYYY-MM-DDTHH:MM`, in UTC. */
  readonly minute: string
}

export const minuteTextOf = (instant: Instant): string => instant.slice(0, 16)

/** A flag since it was last switched on: what was measured before belongs to another time and is never looked at again. */
export interface WatchedTime {
  readonly flagId: number
  readonly activeSince: Instant
}

export interface MetricStore {
  add(watched: WatchedTime, samples: readonly Samples[]): Promise<void>
  /** Undefined when there are none from the minute on. */
  sum(watched: WatchedTime, name: string, fromMinute: string): Promise<SampleSum | undefined>
  countNames(watched: WatchedTime): Promise<number>
  /** Forgets minutes before this one. */
  removeBefore(minute: string): Promise<void>
}
