import { Counter, Gauge, type Registry } from 'prom-client'

/** How many edges follow this process, a server or an edge itself. */
export function watchFollowers(registry: Registry, following: () => number): void {
  new Gauge({
    name: 'halyard_edges_following',
    help: 'Edges that follow this process.',
    registers: [registry],
    collect() {
      this.set(following())
    },
  })
}

/** What edges report about themselves. */
export interface EdgeCounters {
  evaluated(evaluations: { readonly requests: number; readonly flags: number }): void
}

export function createEdgeCounters(registry: Registry): EdgeCounters {
  const registers = [registry]
  const requests = new Counter({
    name: 'halyard_edge_evaluation_requests_total',
    help: 'Evaluation requests at edges, as reported by them.',
    registers,
  })
  const flags = new Counter({
    name: 'halyard_edge_flags_evaluated_total',
    help: 'Flags evaluated at edges, as reported by them.',
    registers,
  })
  return {
    evaluated(evaluations) {
      requests.inc(evaluations.requests)
      flags.inc(evaluations.flags)
    },
  }
}
