/** Counters of evaluations since the start of the process, read when metrics are scraped. */
export interface EvaluationCounts {
  readonly totals: {
    readonly requests: number
    readonly flags: number
    /** Time spent on evaluating flags and serializing the results. */
    readonly seconds: number
    /** Evaluations that the evaluation handler passed to the ordinary route, by reason. */
    readonly fallbacks: Readonly<Record<FallbackReason, number>>
  }
  add(flags: number): void
  addSeconds(seconds: number): void
  addFallback(reason: FallbackReason): void
}

/** `body`: the body is large, chunked, encoded in an unusual way or malformed. `refused`: the response is an error. */
export type FallbackReason = 'body' | 'refused'

export function createEvaluationCounts(): EvaluationCounts {
  const totals = { requests: 0, flags: 0, seconds: 0, fallbacks: { body: 0, refused: 0 } }
  return {
    totals,
    add(flags) {
      totals.requests += 1
      totals.flags += flags
    },
    addSeconds(seconds) {
      totals.seconds += seconds
    },
    addFallback(reason) {
      totals.fallbacks[reason] += 1
    },
  }
}
