import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  readonly registry: Registry
  observeRequest(method: string, route: string, status: number, seconds: number): void
  watchLoad(load: { readonly lagMilliseconds: number; readonly inFlight: number; readonly shedTotal: number }): void
  /** Evaluations are counted as plain numbers and read here only when somebody asks. */
  watchEvaluations(totals: () => EvaluationTotals): void
}

export interface EvaluationTotals {
  readonly requests: number
  readonly flags: number
  readonly seconds: number
  readonly unchanged: number
  readonly definitions: number
}

/** Workers behind one port answer `/metrics` by turns: a name keeps their numbers apart. */
export function createMetrics(worker?: string): Metrics {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'halyard_http_requests_total',
    help: 'HTTP requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'halyard_http_request_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  return {
    registry,
    observeRequest(method, route, status, seconds) {
      requests.inc({ method, route, status: String(status) })
      durations.observe({ method, route }, seconds)
    },
    watchLoad(load) {
      const gauge = (name: string, help: string, read: () => number) =>
        new Gauge({
          name,
          help,
          registers: [registry],
          collect() {
            this.set(read())
          },
        })
      gauge(
        'halyard_event_loop_lag_seconds',
        'How late the event loop was a moment ago.',
        () => load.lagMilliseconds / 1000,
      )
      gauge('halyard_requests_in_flight', 'Requests that are being answered, streams aside.', () => load.inFlight)
      total('halyard_requests_shed_total', 'Requests turned away with 503 for lack of room.', () => load.shedTotal)
    },
    watchEvaluations(totals) {
      total('halyard_evaluation_requests_total', 'Requests that flags were evaluated for.', () => totals().requests)
      total('halyard_flags_evaluated_total', 'Flags told in evaluations.', () => totals().flags)
      total('halyard_evaluation_seconds_total', 'Time taken by evaluations answered at once.', () => totals().seconds)
      total(
        'halyard_definitions_unchanged_total',
        'Polls for definitions answered 304 at once.',
        () => totals().unchanged,
      )
      total('halyard_definitions_sent_total', 'Polls for definitions answered 200 at once.', () => totals().definitions)
    },
  }
}
