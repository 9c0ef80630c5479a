import type { HrTime } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Registry } from 'prom-client'

/** Only the part of prom-client's JSON that is read here. */
interface PrometheusMetric {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values: readonly PrometheusValue[]
}

interface PrometheusValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string
}

/** Exports what `/metrics` serves through OTLP as well, so that both always agree. */
export function createPrometheusProducer(registry: Registry, resource: Resource, version: string): MetricProducer {
  const startTime = millisToHrTime(Date.now())
  return {
    async collect(): Promise<CollectionResult> {
      const endTime = millisToHrTime(Date.now())
      const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly PrometheusMetric[]
      const converted = metrics.flatMap(metric => convert(metric, startTime, endTime))
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'halyard', version }, metrics: converted }] },
        errors: [],
      }
    },
  }
}

function convert(metric: PrometheusMetric, startTime: HrTime, endTime: HrTime): MetricData[] {
  const type = String(metric.type)
  const descriptor = { name: metric.name, description: metric.help, unit: unitOf(metric.name), valueType: 1 as const }
  const points = (values: readonly PrometheusValue[]): DataPoint<number>[] =>
    values.map(({ value, labels }) => ({ startTime, endTime, attributes: attributesOf(labels), value }))
  if (type === 'counter') {
    return [
      {
        descriptor,
        dataPointType: DataPointType.SUM,
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        isMonotonic: true,
        dataPoints: points(metric.values),
      },
    ]
  }
  if (type === 'histogram') {
    return [
      {
        descriptor,
        dataPointType: DataPointType.HISTOGRAM,
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        dataPoints: histogramPoints(metric.values, startTime, endTime),
      },
    ]
  }
  // Gauges. Summaries (garbage collection) are left to the Prometheus endpoint: OTLP has deprecated them.
  if (type !== 'gauge') return []
  return [
    {
      descriptor,
      dataPointType: DataPointType.GAUGE,
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPoints: points(metric.values),
    },
  ]
}

/** Prometheus counts cumulatively up to each bound (`le`); OTLP counts each bucket alone. */
function histogramPoints(
  values: readonly PrometheusValue[],
  startTime: HrTime,
  endTime: HrTime,
): DataPoint<Histogram>[] {
  const series = new Map<string, { labels: PrometheusValue['labels']; bounds: [number, number][]; sum: number }>()
  for (const { labels, metricName, value } of values) {
    const { le, ...rest } = labels
    const key = JSON.stringify(rest)
    const histogram = series.get(key) ?? { labels: rest, bounds: [], sum: 0 }
    series.set(key, histogram)
    if (le !== undefined) histogram.bounds.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value])
    else if (metricName?.endsWith('_sum')) histogram.sum = value
  }
  return [...series.values()].map(({ labels, bounds, sum }) => {
    bounds.sort(([a], [b]) => a - b)
    const counts = bounds.map(([, cumulative], index) => cumulative - (bounds[index - 1]?.[1] ?? 0))
    return {
      startTime,
      endTime,
      attributes: attributesOf(labels),
      value: {
        buckets: { boundaries: bounds.slice(0, -1).map(([bound]) => bound), counts },
        sum,
        count: bounds.at(-1)?.[1] ?? 0,
      },
    }
  })
}

function attributesOf(labels: PrometheusValue['labels']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}

const unitOf = (name: string): string =>
  /_seconds(_total)?$/.test(name) ? 's' : /_bytes(_total)?$/.test(name) ? 'By' : '1'
