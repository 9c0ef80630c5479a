import { expect, it } from 'vitest'
import { openTelemetry } from '../../observability/telemetry/open-telemetry.ts'
import { openLog } from './open-log.ts'

it('with tracing, a log line has no fields of earlier lines, and neither have outgoing requests', async () => {
  const telemetry = openTelemetry({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }, '0.0.0')
  const lines: string[] = []
  const logs = { write: (line: string) => void lines.push(line) }
  const { log } = openLog({ logLevel: 'info', logFormat: 'json' }, { ...telemetry!, logs })
  log.info({ event: 'http_request', ip: '192.0.2.1' }, 'first')
  log.info({ event: 'server_stopping' }, 'second')
  expect(lines.map(line => JSON.parse(line)).map(({ ip }) => ip)).toEqual(['192.0.2.1', undefined])
  expect(telemetry!.tracing!.outgoingHeaders()).toEqual({})
  await telemetry!.close()
})
