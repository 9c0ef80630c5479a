import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'

export interface Metrics {
  readonly registry: Registry
  readonly requests: RequestMetrics
  watchLoad(load: { readonly lagMilliseconds: number; readonly inFlight: number; readonly shedTotal: number }): void
  /** Evaluations are counted as numbers and read only when metrics are scraped. */
  watchEvaluations(totals: () => EvaluationTotals): void
  watchBodies(bodies: { readonly heldBytes: number; readonly inflatesTotal: number }): void
}

export interface EvaluationTotals {
  readonly requests: number
  readonly flags: number
  readonly seconds: number
  readonly unchanged: number
  readonly definitions: number
  readonly fallbacks: Readonly<Record<string, number>>
}

/** Each scrape reaches one of the workers behind a port: the label separates their series. */
export function createMetrics(worker?: string): Metrics {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  collectDefaultMetrics({ register: registry })
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
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  return {
    registry,
    requests: createRequestMetrics(registry),
    watchLoad(load) {
      gauge(
        'halyard_event_loop_lag_seconds',
        'Lag of the event loop at the last sample.',
        () => load.lagMilliseconds / 1000,
      )
      gauge(
        'halyard_requests_in_flight',
        'Requests in flight on the ordinary path, without streams.',
        () => load.inFlight,
      )
      total('halyard_requests_shed_total', 'Requests refused with 503 because of overload.', () => load.shedTotal)
    },
    watchEvaluations(totals) {
      total('halyard_evaluation_requests_total', 'Evaluation requests.', () => totals().requests)
      total('halyard_flags_evaluated_total', 'Flags returned by evaluations.', () => totals().flags)
      total('halyard_evaluation_seconds_total', 'Time spent on evaluations on the fast path.', () => totals().seconds)
      total(
        'halyard_definitions_unchanged_total',
        'Polls for definitions answered 304 on the fast path.',
        () => totals().unchanged,
      )
      total(
        'halyard_definitions_sent_total',
        'Polls for definitions answered 200 on the fast path.',
        () => totals().definitions,
      )
      new Counter({
        name: 'halyard_fast_path_fallbacks_total',
        help: 'Requests that the fast path left to the ordinary path, by reason.',
        labelNames: ['reason'],
        registers: [registry],
        collect() {
          this.reset()
          for (const [reason, count] of Object.entries(totals().fallbacks)) this.inc({ reason }, count)
        },
      })
    },
    watchBodies(bodies) {
      gauge('halyard_request_body_bytes', 'Memory reserved for large bodies and responses.', () => bodies.heldBytes)
      total('halyard_request_body_inflates_total', 'Request bodies that were decompressed.', () => bodies.inflatesTotal)
    },
  }
}
