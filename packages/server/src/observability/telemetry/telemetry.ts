import type { Registry } from 'prom-client'
import type { Tracing } from './tracing.ts'

/** Traces, metrics and logs by OTLP. Created only when an `OTEL_*` endpoint is set, so that it costs nothing otherwise. */
export interface Telemetry {
  /** Undefined when traces are not exported. */
  readonly tracing: Tracing | undefined
  /** Where log lines are copied to; undefined when logs are not exported. */
  readonly logs: { write(line: string): void } | undefined
  /** Exports what `/metrics` of this process serves, from now on. */
  exportMetrics(registry: Registry): void
  /** Reports that exports fail, at most once a minute. */
  onFailure(report: (message: string) => void): void
  /** Sends what is buffered, within a bounded time; at shutdown. */
  close(): Promise<void>
}

export type Signal = 'TRACES' | 'METRICS' | 'LOGS'

/** How a signal is encoded. */
export type Protocol = 'http/protobuf' | 'http/json'

/** What the exporters need to know, checked. */
export interface TelemetryOptions {
  readonly protocols: ReadonlyMap<Signal, Protocol>
  readonly sampler: { readonly name: string; readonly ratio: number }
  readonly resource: Readonly<Record<string, string>>
  readonly metricIntervalMilliseconds: number
  /** How long spans and log records are collected before they are sent together. */
  readonly delayMilliseconds: { readonly spans: number; readonly logRecords: number }
}
