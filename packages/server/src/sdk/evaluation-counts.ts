/** How much has been evaluated on this node since it started. */
export interface EvaluationCounts {
  readonly requests: number
  readonly flags: number
  add(flags: number): void
}

export function createEvaluationCounts(): EvaluationCounts {
  let requests = 0
  let flags = 0
  return {
    get requests() {
      return requests
    },
    get flags() {
      return flags
    },
    add(count) {
      requests += 1
      flags += count
    },
  }
}
