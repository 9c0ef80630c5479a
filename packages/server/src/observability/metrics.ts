import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client'
import { version } from '../version.ts'
import { noWorkerBus, type WorkerBus } from '../worker-bus.ts'
import { observeGauge, observeTotal, observeTotals } from './observed-metric.ts'
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts'

export interface Metrics {
  /** Of this process. */
  readonly registry: Registry
  readonly requests: RequestMetrics
  /** Of all workers together, in the text format of Prometheus. Raises `unavailable`. */
  text(): Promise<string>
  readonly contentType: string
  watchLoad(load: { readonly inFlight: number; readonly shedTotal: number }): void
  /** Evaluations are counted as numbers and read only when metrics are scraped. */
  watchEvaluations(totals: () => EvaluationTotals): void
  watchBodies(bodies: { readonly heldBytes: number; readonly inflatesTotal: number }): void
  watchServing(serving: ServedCounts): void
  signInFailed(reason: SignInFailureReason): void
}

export type SignInFailureReason = 'wrong_password' | 'wrong_second_factor' | 'throttled'

export interface EvaluationTotals {
  readonly requests: number
  readonly flags: number
  readonly seconds: number
  readonly fallbacks: Readonly<Record<string, number>>
}

export interface ServedCounts {
  readonly streams: { readonly size: number }
  readonly snapshots: { readonly size: number }
}

const signInFailureReasons: readonly SignInFailureReason[] = ['wrong_password', 'wrong_second_factor', 'throttled']

/** A scrape reaches one of the workers behind a port, which collects the metrics of all of them. */
export function createMetrics(peers: Pick<WorkerBus, 'gatherMetrics' | 'onMetricsWanted'> = noWorkerBus): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'halyard_build_info',
    help: 'Always 1; the labels have the version of Halyard and of Node.',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1)
  observeGauge(registry, 'halyard_workers', 'Processes that serve the port.', () => 1)
  const signInFailures = new Counter({
    name: 'halyard_sign_in_failures_total',
    help: 'Sign-ins that failed, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of signInFailureReasons) signInFailures.inc({ reason }, 0)
  peers.onMetricsWanted(() => registry.getMetricsAsJSON())
  return {
    registry,
    requests: createRequestMetrics(registry),
    contentType: registry.contentType,
    async text() {
      const all = await peers.gatherMetrics()
      return all ? aggregate(all).metrics() : registry.metrics()
    },
    watchLoad(load) {
      observeGauge(
        registry,
        'halyard_http_requests_in_flight',
        'Requests in flight on the ordinary path, without streams.',
        () => load.inFlight,
      )
      observeTotal(
        registry,
        'halyard_http_requests_shed_total',
        'Requests refused with 503 because of overload.',
        () => load.shedTotal,
      )
    },
    watchEvaluations(totals) {
      const total = (name: string, help: string, read: () => number) => observeTotal(registry, name, help, read)
      total('halyard_evaluation_requests_total', 'Evaluation requests.', () => totals().requests)
      total('halyard_flags_evaluated_total', 'Flags returned by evaluations.', () => totals().flags)
      total(
        'halyard_evaluation_seconds_total',
        'Time spent on evaluating flags and serializing the results.',
        () => totals().seconds,
      )
      observeTotals(
        registry,
        'halyard_fast_path_fallbacks_total',
        'Evaluation requests that the fast path passed to the ordinary route, by reason.',
        'reason',
        () => totals().fallbacks,
      )
    },
    watchBodies(bodies) {
      observeGauge(
        registry,
        'halyard_request_body_bytes',
        'Memory reserved for large bodies and responses.',
        () => bodies.heldBytes,
      )
      observeTotal(
        registry,
        'halyard_request_body_inflates_total',
        'Request bodies that were decompressed.',
        () => bodies.inflatesTotal,
      )
    },
    watchServing({ streams, snapshots }) {
      observeGauge(registry, 'halyard_streams', 'Open streams of definitions and evaluations.', () => streams.size)
      observeGauge(registry, 'halyard_projects_in_memory', 'Projects in memory.', () => snapshots.size, 'max')
    },
    signInFailed: reason => signInFailures.inc({ reason }),
  }
}

/** One registry of several, by the aggregation of each metric. */
export const aggregate = (all: readonly unknown[]): Registry =>
  AggregatorRegistry.aggregate(all as unknown as MetricObject[])
