import type { Instant } from '../../instant.ts'

/** Aggregated samples of one metric. */
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

/** A flag since it was last switched on. Earlier measurements are ignored. */
export interface WatchedPeriod {
  readonly flagId: number
  readonly activeSince: Instant
}
