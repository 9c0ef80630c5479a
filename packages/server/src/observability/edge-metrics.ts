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

/** What edges tell a server of themselves. */
export interface EdgeCounters {
  evaluated(evaluations: { readonly requests: number; readonly flags: number }): void
}

export function createEdgeCounters(registry: Registry): EdgeCounters {
  const registers = [registry]
  const requests = new Counter({
    name: 'halyard_edge_evaluation_requests_total',
    help: 'Requests that edges evaluated flags for, as they have reported.',
    registers,
  })
  const flags = new Counter({
    name: 'halyard_edge_flags_evaluated_total',
    help: 'Flags told in evaluations at edges, as they have reported.',
    registers,
  })
  return {
    evaluated(evaluations) {
      requests.inc(evaluations.requests)
      flags.inc(evaluations.flags)
    },
  }
}
