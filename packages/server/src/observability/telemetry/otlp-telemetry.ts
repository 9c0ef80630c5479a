import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { createLogBridge } from './log-bridge.ts'
import { createPrometheusProducer } from './prometheus-producer.ts'
import type { RequestSpan, Telemetry } from './telemetry.ts'

const exportIntervalMillisecondsDefault = 60_000

/** Exporters read their endpoints, headers and timeouts from the standard `OTEL_*` variables. */
export function createOtlpTelemetry(
  enabled: ReadonlySet<'TRACES' | 'METRICS' | 'LOGS'>,
  environment: Readonly<Record<string, string | undefined>>,
  version: string,
): Telemetry {
  const resource = resourceFromAttributes({
    'service.name': 'halyard',
    'service.version': version,
    'process.pid': process.pid,
    ...resourceAttributes(environment),
  })
  const propagator = new W3CTraceContextPropagator()
  const traces = enabled.has('TRACES')
    ? new TracerProvider({
        resource,
        sampler: samplerOf(environment),
        spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
      })
    : undefined
  const logs = enabled.has('LOGS')
    ? new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] })
    : undefined
  const tracer = traces?.getTracer('halyard', version)
  let metrics: MeterProvider | undefined
  return {
    startRequest(method, path, traceparent) {
      if (!tracer) return untraced(traceparent ?? '')
      const parent = traceparent
        ? propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter)
        : ROOT_CONTEXT
      const span = tracer.startSpan(
        method,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'url.path': path } },
        parent,
      )
      const carrier: Record<string, string> = {}
      propagator.inject(trace.setSpan(parent, span), carrier, defaultTextMapSetter)
      return requestSpan(span, method, carrier.traceparent ?? '')
    },
    exportMetrics(registry) {
      if (!enabled.has('METRICS')) return
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        exportIntervalMillis: Number(environment.OTEL_METRIC_EXPORT_INTERVAL) || exportIntervalMillisecondsDefault,
        metricProducers: [createPrometheusProducer(registry, resource, version)],
      })
      metrics = new MeterProvider({ resource, readers: [reader] })
    },
    logs: logs && createLogBridge(logs.getLogger('halyard', version)),
    async close() {
      // A collector that is down must not keep the process from stopping.
      await Promise.allSettled([traces?.shutdown(), logs?.shutdown(), metrics?.shutdown()])
    },
  }
}

function requestSpan(span: Span, method: string, traceparent: string): RequestSpan {
  return {
    traceparent,
    addEvaluation(key, variant) {
      span.addEvent('feature_flag.evaluation', {
        'feature_flag.key': key,
        'feature_flag.result.variant': variant,
        'feature_flag.provider.name': 'halyard',
      })
    },
    end(route, status) {
      span.updateName(`${method} ${route}`)
      span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

const untraced = (traceparent: string): RequestSpan => ({ traceparent, addEvaluation() {}, end() {} })

function resourceAttributes(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = (environment.OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').flatMap(pair => {
    const [name, value] = pair.split(/=(.*)/)
    return name?.trim() && value !== undefined ? [[name.trim(), decodeURIComponent(value.trim())]] : []
  })
  const service = environment.OTEL_SERVICE_NAME
  return { ...Object.fromEntries(pairs), ...(service && { 'service.name': service }) }
}

/** `OTEL_TRACES_SAMPLER` and its argument, as the specification names them. */
function samplerOf({
  OTEL_TRACES_SAMPLER: name = 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Readonly<Record<string, string | undefined>>): Sampler {
  const root = name.includes('always_off')
    ? new AlwaysOffSampler()
    : name.includes('traceidratio')
      ? new TraceIdRatioBasedSampler(ratio === undefined ? 1 : Number(ratio))
      : new AlwaysOnSampler()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
