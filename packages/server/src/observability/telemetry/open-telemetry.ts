import { ConfigError } from '../../config.ts'
import { createOtlpTelemetry } from './otlp-telemetry.ts'
import type { Protocol, Signal, Telemetry, TelemetryOptions } from './telemetry.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const signals: readonly Signal[] = ['TRACES', 'METRICS', 'LOGS']

/** The variables that Halyard reads itself. The exporters read further standard ones, such as timeouts and certificates. */
export const telemetryVariables = [
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: undefined,
    describes:
      'URL of the collector, such as `http://localhost:4318`; `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended. Unset: nothing is exported.',
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS}_ENDPOINT',
    fallback: undefined,
    describes: 'Complete URL for one signal. Enough on its own to export only that signal.',
  },
  {
    variable: 'OTEL_{TRACES,METRICS,LOGS}_EXPORTER',
    fallback: 'otlp',
    describes: '`none` excludes a signal.',
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    fallback: 'http/protobuf',
    describes: '`http/protobuf` or `http/json`, also per signal (`OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`).',
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: undefined,
    describes: 'Headers for the collector, such as `authorization=Bearer%20abc`, also per signal.',
  },
  {
    variable: 'OTEL_SERVICE_NAME',
    fallback: 'halyard',
    describes: 'Sets the resource attribute `service.name`.',
  },
  {
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    fallback: undefined,
    describes: 'Further resource attributes: `deployment.environment.name=production,team=web`.',
  },
  {
    variable: 'OTEL_TRACES_SAMPLER',
    fallback: 'parentbased_always_on',
    describes:
      '`always_on`, `always_off`, `traceidratio`, or one of these with the prefix `parentbased_`, which follows the caller first.',
  },
  {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '1',
    describes: 'Ratio for `traceidratio`, from 0 to 1.',
  },
  {
    variable: 'OTEL_METRIC_EXPORT_INTERVAL',
    fallback: '60000',
    describes: 'Milliseconds between two exports of metrics.',
  },
  {
    variable: 'OTEL_BSP_SCHEDULE_DELAY',
    fallback: '5000',
    describes:
      'Milliseconds that spans are collected before they are sent; `OTEL_BLRP_SCHEDULE_DELAY` (1000) for logs.',
  },
  {
    variable: 'OTEL_SDK_DISABLED',
    fallback: 'false',
    describes: '`true` exports nothing.',
  },
] as const

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap(name => [name, `parentbased_${name}`])

/** Which signals have an endpoint, by the standard variables. */
export function enabledSignals(environment: Environment): readonly Signal[] {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return []
  return signals.filter(signal => {
    if (environment[`OTEL_${signal}_EXPORTER`] === 'none') return false
    return Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`])
  })
}

/** Undefined unless an OTLP endpoint is set. Raises a ConfigError for an invalid value. */
export function openTelemetry(environment: Environment, version: string): Telemetry | undefined {
  const enabled = enabledSignals(environment)
  if (enabled.length === 0) return undefined
  telemetryTargets(environment)
  const options = readOptions(environment, enabled)
  return createOtlpTelemetry(options, version)
}

/** Where each enabled signal goes. Raises a ConfigError for an invalid value. */
export function telemetryTargets(
  environment: Environment,
): readonly { readonly signal: Signal; readonly url: string }[] {
  const enabled = enabledSignals(environment)
  if (enabled.length > 0) readOptions(environment, enabled)
  return enabled.map(signal => {
    const base = (environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? '').replace(/\/$/, '')
    const url = environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || `${base}/v1/${signal.toLowerCase()}`
    if (!URL.canParse(url)) throw new ConfigError(`${url} is not a URL. Check OTEL_EXPORTER_OTLP_ENDPOINT.`)
    return { signal, url }
  })
}

function readOptions(environment: Environment, enabled: readonly Signal[]): TelemetryOptions {
  return {
    protocols: new Map(enabled.map(signal => [signal, protocolOf(environment, signal)])),
    sampler: readSampler(environment),
    resource: readResource(environment),
    metricIntervalMilliseconds: readNumber(environment, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000, 100, 86_400_000),
    delayMilliseconds: {
      spans: readNumber(environment, 'OTEL_BSP_SCHEDULE_DELAY', 5000, 0, 86_400_000),
      logRecords: readNumber(environment, 'OTEL_BLRP_SCHEDULE_DELAY', 1000, 0, 86_400_000),
    },
  }
}

function protocolOf(environment: Environment, signal: Signal): Protocol {
  const own = `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`
  const variable = environment[own] ? own : 'OTEL_EXPORTER_OTLP_PROTOCOL'
  const protocol = environment[variable] || 'http/protobuf'
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol
  throw new ConfigError(`${variable} must be "http/protobuf" or "http/json". Most collectors serve both on port 4318.`)
}

function readSampler(environment: Environment): TelemetryOptions['sampler'] {
  const name = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  if (!samplers.includes(name)) throw new ConfigError(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}.`)
  return { name, ratio: readNumber(environment, 'OTEL_TRACES_SAMPLER_ARG', 1, 0, 1) }
}

function readNumber(environment: Environment, variable: string, fallback: number, min: number, max: number): number {
  const value = Number(environment[variable] || fallback)
  if (!(value >= min && value <= max)) throw new ConfigError(`${variable} must be a number from ${min} to ${max}.`)
  return value
}

function readResource({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME }: Environment): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const pair of (OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').filter(text => text.trim() !== '')) {
    const [name, value] = pair.split(/=(.*)/s)
    try {
      if (!name?.trim() || value === undefined) throw new Error('not a pair')
      attributes[name.trim()] = decodeURIComponent(value.trim())
    } catch {
      throw new ConfigError('OTEL_RESOURCE_ATTRIBUTES must be name=value pairs separated by commas, percent-encoded.')
    }
  }
  return { ...attributes, ...(OTEL_SERVICE_NAME && { 'service.name': OTEL_SERVICE_NAME }) }
}
