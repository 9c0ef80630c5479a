import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { type Logger, SeverityNumber } from '@opentelemetry/api-logs'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPLogExporter as JsonLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
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
import type { Telemetry, TelemetryOptions } from './telemetry.ts'
import type { RequestSpan, Tracing } from './tracing.ts'

/** A collector that is down must not keep the process from stopping. */
const closeMillisecondsMax = 5000
const reportMilliseconds = 60_000
const reportCharactersMax = 500

/** Exporters read their endpoints, headers and timeouts from the standard `OTEL_*` variables. */
export function createOtlpTelemetry(options: TelemetryOptions, version: string): Telemetry {
  const { protocols } = options
  const resource = resourceFromAttributes({
    'service.name': 'halyard',
    'service.version': version,
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    ...options.resource,
  })
  const traces = protocols.has('TRACES') ? openTraces(options, resource) : undefined
  const logs = protocols.has('LOGS') ? openLogs(options, resource) : undefined
  // A queue of its own: many evaluations must not displace log lines.
  const evaluations = protocols.has('LOGS') ? openLogs(options, resource) : undefined
  let metrics: MeterProvider | undefined
  return {
    tracing: traces && createTracing(traces, evaluations?.getLogger('halyard', version), version),
    logs: logs && createLogBridge(logs.getLogger('halyard', version)),
    exportMetrics(registry) {
      const protocol = protocols.get('METRICS')
      if (!protocol) return
      const reader = new PeriodicExportingMetricReader({
        exporter: protocol === 'http/json' ? new JsonMetricExporter() : new ProtobufMetricExporter(),
        exportIntervalMillis: options.metricIntervalMilliseconds,
        exportTimeoutMillis: Math.min(30_000, options.metricIntervalMilliseconds),
        metricProducers: [createPrometheusProducer(registry, resource, version)],
      })
      metrics = new MeterProvider({ resource, readers: [reader] })
    },
    onFailure: reportFailures,
    async close() {
      const closing = Promise.allSettled([traces, logs, evaluations, metrics].map(provider => provider?.shutdown()))
      let timer: NodeJS.Timeout | undefined
      const late = new Promise(resolve => {
        timer = setTimeout(resolve, closeMillisecondsMax)
      })
      await Promise.race([closing, late]).finally(() => clearTimeout(timer))
    },
  }
}

/** The SDK has one logger for all its parts. */
function reportFailures(report: (message: string) => void): void {
  let reportedAt = Number.NEGATIVE_INFINITY
  const note = (message: string, ...details: unknown[]) => {
    if (performance.now() - reportedAt < reportMilliseconds) return
    reportedAt = performance.now()
    report([message, ...details.map(String)].join(' ').slice(0, reportCharactersMax))
  }
  const ignore = () => {}
  const logger = { error: note, warn: note, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

const openTraces = ({ protocols, sampler, delayMilliseconds }: TelemetryOptions, resource: Resource): TracerProvider =>
  new TracerProvider({
    resource,
    sampler: samplerOf(sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: protocols.get('TRACES') === 'http/json' ? new JsonTraceExporter() : new ProtobufTraceExporter(),
        scheduledDelayMillis: delayMilliseconds.spans,
      }),
    ],
  })

const openLogs = ({ protocols, delayMilliseconds }: TelemetryOptions, resource: Resource): LoggerProvider =>
  new LoggerProvider({
    resource,
    processors: [
      new BatchLogRecordProcessor({
        exporter: protocols.get('LOGS') === 'http/json' ? new JsonLogExporter() : new ProtobufLogExporter(),
        scheduledDelayMillis: delayMilliseconds.logRecords,
      }),
    ],
  })

const evaluationEvent = 'feature_flag.evaluation'

class TracedRequest implements RequestSpan {
  readonly context: Context
  readonly #span: Span
  readonly #events: Logger | undefined
  readonly #method: string

  constructor(span: Span, events: Logger | undefined, parent: Context, method: string) {
    this.#span = span
    this.#events = events
    this.#method = method
    this.context = trace.setSpan(parent, span)
  }

  get isRecording(): boolean {
    return this.#span.isRecording()
  }

  /** As an event of the span, and as an event in the log, which replaces it since version 1.30 of the conventions. */
  addEvaluation({
    key,
    variant,
    reason,
    version,
    contextId,
    setId,
  }: Parameters<RequestSpan['addEvaluation']>[0]): void {
    const attributes = {
      'feature_flag.key': key,
      'feature_flag.result.variant': variant,
      'feature_flag.result.reason': reason,
      'feature_flag.version': version,
      'feature_flag.context.id': contextId,
      'feature_flag.set.id': setId,
      'feature_flag.provider.name': 'halyard',
      ...(reason === 'error' && { 'error.type': 'general' }),
    }
    this.#span.addEvent(evaluationEvent, attributes)
    this.#events?.emit({
      eventName: evaluationEvent,
      severityNumber: SeverityNumber.INFO,
      context: this.context,
      attributes,
    })
  }

  end(route: string, status: number): void {
    this.#span.updateName(`${this.#method} ${route}`)
    this.#span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
    if (status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}

const none: Readonly<Record<string, string>> = Object.freeze({})

function createTracing(traces: TracerProvider, events: Logger | undefined, version: string): Tracing {
  const propagator = new W3CTraceContextPropagator()
  const tracer = traces.getTracer('halyard', version)
  const running = new AsyncLocalStorage<Context>()
  return {
    startRequest(method, path, { traceparent, tracestate }) {
      const carrier = { traceparent, tracestate }
      const parent = traceparent ? propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter) : ROOT_CONTEXT
      const attributes = { 'http.request.method': method, 'url.path': path }
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent)
      return new TracedRequest(span, events, parent, method)
    },
    run: (span, work) => running.run((span as TracedRequest).context, work),
    outgoingHeaders() {
      const context = running.getStore()
      if (!context) return none
      const headers: Record<string, string> = {}
      propagator.inject(context, headers, defaultTextMapSetter)
      return headers
    },
    logFields() {
      const context = running.getStore()
      const span = context && trace.getSpanContext(context)
      // A new object each time: the logger adds the fields of its line to it.
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
    },
  }
}

function samplerOf({ name, ratio }: TelemetryOptions['sampler']): Sampler {
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('traceidratio')
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
