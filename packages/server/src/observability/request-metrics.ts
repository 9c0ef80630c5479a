import type { MetricObject, Registry } from 'prom-client'

/** Counts requests and their durations, cheaply enough for every evaluation: two array increments and an addition. */
export interface RequestMetrics {
  /** The series of one combination of labels, to be bound once where requests are frequent. */
  series(method: string, route: string, status: number): RequestSeries
  observe(method: string, route: string, status: number, seconds: number): void
}

export interface RequestSeries {
  observe(seconds: number): void
}

const bucketsSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

class Series implements RequestSeries {
  readonly labels: Readonly<Record<string, string>>
  /** One more than there are bounds, for everything above the last. Not cumulative. */
  readonly counts = new Float64Array(bucketsSeconds.length + 1)
  seconds = 0

  constructor(method: string, route: string, status: number) {
    this.labels = { method, route, status: String(status) }
  }

  observe(seconds: number): void {
    let bucket = 0
    while (bucket < bucketsSeconds.length && seconds > bucketsSeconds[bucket]!) bucket += 1
    this.counts[bucket]! += 1
    this.seconds += seconds
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const known = new Map<string, Series>()

  function seriesOf(method: string, route: string, status: number): Series {
    const key = `${method} ${status} ${route}`
    const series = known.get(key) ?? new Series(method, route, status)
    known.set(key, series)
    return series
  }

  register(registry, 'halyard_http_requests_total', 'HTTP requests by method, route and status.', 'counter', () =>
    [...known.values()].map(series => ({ labels: series.labels, value: series.total })),
  )
  register(
    registry,
    'halyard_http_request_duration_seconds',
    'Time from reading a request to the end of its response.',
    'histogram',
    name => [...known.values()].flatMap(series => histogramOf(name, series)),
  )

  return {
    series: seriesOf,
    observe: (method, route, status, seconds) => seriesOf(method, route, status).observe(seconds),
  }
}

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

function histogramOf(name: string, { labels, counts, seconds }: Series): Sample[] {
  let total = 0
  const buckets = Array.from(counts, (count, index) => {
    total += count
    const le = index < bucketsSeconds.length ? String(bucketsSeconds[index]) : '+Inf'
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: total },
  ]
}

/** The registry takes anything that can be read like one of its own metrics. */
function register(
  registry: Registry,
  name: string,
  help: string,
  type: 'counter' | 'histogram',
  samples: (name: string) => readonly Sample[],
): void {
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    labelNames: ['method', 'route', 'status'],
    get: async () => ({ name, help, type, aggregator: 'sum', values: samples(name) }) as unknown as MetricObject,
    reset() {},
  }
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
}
