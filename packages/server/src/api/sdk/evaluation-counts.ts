/** How much has been evaluated on this node since it started: plain numbers, which the metrics read when they are asked for. */
export interface EvaluationCounts {
  readonly totals: {
    readonly requests: number
    readonly flags: number
    /** Time taken by evaluations that were answered at once. */
    readonly seconds: number
    /** Definitions that were asked for and had not changed. */
    readonly unchanged: number
    /** Definitions that were sent whole at once. */
    readonly definitions: number
  }
  add(flags: number): void
  addSeconds(seconds: number): void
  addUnchanged(): void
  addDefinitions(): void
}

export function createEvaluationCounts(): EvaluationCounts {
  const totals = { requests: 0, flags: 0, seconds: 0, unchanged: 0, definitions: 0 }
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
  }
}
