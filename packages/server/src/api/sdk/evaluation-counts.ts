/** Counters of evaluations since the start of the process, read when metrics are scraped. */
export interface EvaluationCounts {
  readonly totals: {
    readonly requests: number
    readonly flags: number
    /** Time spent on evaluations on the fast path. */
    readonly seconds: number
    /** Polls for definitions answered 304 on the fast path. */
    readonly unchanged: number
    /** Polls for definitions answered 200 on the fast path. */
    readonly definitions: number
    /** Requests that the fast path left to the ordinary path, by reason. */
    readonly fallbacks: Readonly<Record<FallbackReason, number>>
  }
  add(flags: number): void
  addSeconds(seconds: number): void
  addUnchanged(): void
  addDefinitions(): void
  addFallback(reason: FallbackReason): void
}

/**
 * `not_in_memory`: something has to be read first, or the request is wrong. `large`: the response is compressed on another thread.
 * `error`: a bug.
 */
export type FallbackReason = 'not_in_memory' | 'large' | 'error'

export function createEvaluationCounts(): EvaluationCounts {
  const totals = {
    requests: 0,
    flags: 0,
    seconds: 0,
    unchanged: 0,
    definitions: 0,
    fallbacks: { not_in_memory: 0, large: 0, error: 0 },
  }
  return {
    totals,
    add(flags) {
      totals.requests += 1
      totals.flags += flags
    },
    addSeconds(seconds) {
      totals.seconds += seconds
    },
    addUnchanged() {
      totals.unchanged += 1
    },
    addDefinitions() {
      totals.definitions += 1
    },
    addFallback(reason) {
      totals.fallbacks[reason] += 1
    },
  }
}
