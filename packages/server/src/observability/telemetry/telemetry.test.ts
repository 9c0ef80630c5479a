import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toLogRecord } from './log-bridge.ts'
import { enabledSignals, openTelemetry } from './open-telemetry.ts'

/** Collects what exporters send, by path. */
let receiver: Server
let received: Map<string, string[]>
beforeEach(async () => {
  received = new Map()
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += chunk))
    request.on('end', () => {
      received.set(request.url!, [...(received.get(request.url!) ?? []), body])
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json')
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await new Promise(resolve => receiver.close(resolve))
})

describe('telemetry by OTLP', () => {
  it('is not created without an endpoint, or when disabled', () => {
    expect(openTelemetry({}, '1')).toBeUndefined()
    expect(enabledSignals({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' })).toEqual([])
    expect(enabledSignals({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_LOGS_EXPORTER: 'none' })).toEqual([
      'TRACES',
      'METRICS',
    ])
    expect(enabledSignals({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a' })).toEqual(['TRACES'])
  })

  it('refuses what it cannot follow, naming the variable', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }
    for (const [variable, value] of [
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
      ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
      ['OTEL_TRACES_SAMPLER', 'sometimes'],
      ['OTEL_TRACES_SAMPLER_ARG', '2'],
      ['OTEL_METRIC_EXPORT_INTERVAL', 'x'],
      ['OTEL_RESOURCE_ATTRIBUTES', 'team'],
    ] as const) {
      expect(() => openTelemetry({ ...endpoint, [variable]: value }, '1')).toThrow(variable)
    }
  })

  it('exports the metrics of the Prometheus registry', async () => {
    const registry = new Registry()
    const labels = { name: 'requests_total', help: 'Requests.', labelNames: ['route'], registers: [registry] }
    new Counter(labels).inc({ route: '/flags/' }, 3)
    new Gauge({ name: 'streams', help: 'Streams.', registers: [registry] }).set(7)
    const histogram = new Histogram({
      name: 'duration_seconds',
      help: 'Durations.',
      buckets: [0.1, 1],
      registers: [registry],
    })
    for (const seconds of [0.05, 0.5, 0.6, 5]) histogram.observe(seconds)
    const telemetry = openTelemetry(process.env, '1')!
    telemetry.exportMetrics(registry)
    await telemetry.close()

    const [body] = received.get('/v1/metrics')!
    const { metrics } = JSON.parse(body!).resourceMetrics[0].scopeMetrics[0]
    const byName = Object.fromEntries(metrics.map((metric: { name: string }) => [metric.name, metric]))
    expect(byName.requests_total.sum).toMatchObject({ isMonotonic: true, dataPoints: [{ asDouble: 3 }] })
    expect(byName.streams.gauge.dataPoints[0].asDouble).toBe(7)
    expect(byName.duration_seconds.histogram.dataPoints[0]).toMatchObject({
      count: 4,
      explicitBounds: [0.1, 1],
      bucketCounts: [1, 2, 1],
    })
    expect(byName.duration_seconds.unit).toBe('s')
  })

  it('copies log lines, and ignores text that is no log line', async () => {
    const telemetry = openTelemetry(process.env, '1')!
    telemetry.logs?.write('{"level":"warn","time":"2026-07-01T00:00:00.000Z","msg":"disk_full","path":"/data"}\n')
    telemetry.logs?.write('not json')
    await telemetry.close()

    const [body] = received.get('/v1/logs')!
    const { logRecords } = JSON.parse(body!).resourceLogs[0].scopeLogs[0]
    expect(logRecords).toHaveLength(1)
    expect(logRecords[0]).toMatchObject({ severityText: 'warn', body: { stringValue: 'disk_full' } })
    expect(toLogRecord('[1]')?.body).toBe('')
  })
})
