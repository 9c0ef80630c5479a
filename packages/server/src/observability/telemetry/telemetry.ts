import type { Registry } from 'prom-client'

/** A request that is being traced. */
export interface RequestSpan {
  /** The W3C header to pass on to whatever this request causes (webhooks, an upstream). */
  readonly traceparent: string
  /** OpenTelemetry's semantic convention for a flag evaluation. */
  addEvaluation(key: string, variant: string): void
  end(route: string, status: number): void
}

/** Traces, metrics and logs by OTLP. Created only when an `OTEL_*` endpoint is set, so that it costs nothing otherwise. */
export interface Telemetry {
  startRequest(method: string, path: string, traceparent: string | undefined): RequestSpan
  exportMetrics(registry: Registry): void
  /** Where log lines are copied to. */
  readonly logs: { write(line: string): void } | undefined
  /** Sends what is buffered; at shutdown. */
  close(): Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

const signals = ['TRACES', 'METRICS', 'LOGS'] as const
type Signal = (typeof signals)[number]

/** Which signals have somewhere to go, by the standard variables. */
export function enabledSignals(environment: Environment): readonly Signal[] {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return []
  return signals.filter(signal => {
    if (environment[`OTEL_${signal}_EXPORTER`] === 'none') return false
    return Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])
  })
}

/** Undefined unless an OTLP endpoint is set. The SDK is loaded only then. */
export async function openTelemetry(environment: Environment, version: string): Promise<Telemetry | undefined> {
  const enabled = enabledSignals(environment)
  if (enabled.length === 0) return undefined
  const { createOtlpTelemetry } = await import('./otlp-telemetry.ts')
  return createOtlpTelemetry(new Set(enabled), environment, version)
}
