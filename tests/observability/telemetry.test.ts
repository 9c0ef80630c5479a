import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paths } from '../../packages/server/src/testing/paths.ts'
import { type Client, clientOf } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, runCommand, type ServerProcess, startEdge, startServer } from '../faults/server-process.ts'
import { lastMetrics, logsOf, type Receiver, spansOf, startReceiver, valuesOf } from './otlp-receiver.ts'

/** Real processes that export to a receiver in this test. */

const environmentFor = (collector: Receiver) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret%20key',
  OTEL_SERVICE_NAME: 'flags-of-the-shop',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  OTEL_METRIC_EXPORT_INTERVAL: '200',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_BLRP_SCHEDULE_DELAY: '50',
})

/** A caller's span, as the W3C header names it. */
function newCaller(flags = '01') {
  const traceId = randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: 'shop=1' } }
}

async function firstProject(client: Client) {
  const [project] = (await client.get('/api/projects/')).body.results
  return { id: project.id as number, token: project.api_token as string, organization: project.organization as string }
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-telemetry-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(Object.entries(paths))('telemetry of a server on the %s', (_name, path) => {
  let collector: Receiver
  let webhooks: Receiver
  let server: ServerProcess
  let client: Client
  let project: Awaited<ReturnType<typeof firstProject>>

  beforeAll(async () => {
    collector = await startReceiver()
    webhooks = await startReceiver()
    server = await startServer('sqlite::memory:', {
      ...environmentFor(collector),
      ...path,
      HALYARD_TRUSTED_ORIGINS: webhooks.url,
      HALYARD_ACCESS_LOG: 'all',
    })
    client = clientOf(server.url, ownerKey)
    project = await firstProject(client)
    const flags = `/api/projects/${project.id}/feature_flags/`
    await client.post(flags, { key: 'everyone', filters: { groups: [{}] } })
    await client.post(flags, {
      key: 'colors',
      filters: { groups: [{}], multivariate: { variants: [{ key: 'red', rollout_percentage: 100 }] } },
    })
    // Reads the project into memory.
    await client.post('/flags/?v=2', { token: project.token, distinct_id: 'first' })
  })
  afterAll(async () => {
    expect(await server.stop()).toBe(0)
    collector.close()
    webhooks.close()
  })

  const spanIn = async (traceId: string, name: string) => {
    await expect
      .poll(() =>
        spansOf(collector)
          .filter(span => span.traceId === traceId)
          .map(span => span.name),
      )
      .toContain(name)
    return spansOf(collector).find(span => span.traceId === traceId && span.name === name)!
  }

  it('evaluations continue the trace of the caller and list the flags by the semantic conventions', async () => {
    const { traceId, spanId, headers } = newCaller()
    const body = { token: project.token, distinct_id: 'user-1' }
    expect((await client.post('/flags/?v=2', body, headers)).status).toBe(200)
    const span = await spanIn(traceId, 'POST /flags')
    expect(span.parentSpanId).toBe(spanId)
    expect(valuesOf(span.attributes)).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/flags',
      'url.path': '/flags/',
      'http.response.status_code': 200,
    })
    const common = {
      'feature_flag.version': '1',
      'feature_flag.context.id': 'user-1',
      'feature_flag.set.id': String(project.id),
      'feature_flag.provider.name': 'halyard',
    }
    const evaluations = [
      {
        name: 'feature_flag.evaluation',
        'feature_flag.key': 'everyone',
        'feature_flag.result.variant': 'true',
        'feature_flag.result.reason': 'static',
        ...common,
      },
      {
        name: 'feature_flag.evaluation',
        'feature_flag.key': 'colors',
        'feature_flag.result.variant': 'red',
        'feature_flag.result.reason': 'split',
        ...common,
      },
    ]
    expect(span.events.map(({ name, attributes }) => ({ name, ...valuesOf(attributes) }))).toEqual(evaluations)
    // The same as events in the log, in the trace.
    const events = () => logsOf(collector).filter(record => record.spanId === span.spanId && record.eventName)
    await expect.poll(() => events().length).toBe(evaluations.length)
    expect(events().map(record => ({ name: record.eventName, ...valuesOf(record.attributes) }))).toEqual(evaluations)
  })

  it('OFREP evaluations are traced as well', async () => {
    const { traceId, headers } = newCaller()
    await client.post('/ofrep/v1/evaluate/flags/everyone', { context: { targetingKey: 'user-2' } }, headers)
    const span = await spanIn(traceId, 'POST /ofrep/v1/evaluate/flags/*')
    expect(span.events.map(({ attributes }) => valuesOf(attributes)['feature_flag.key'])).toEqual(['everyone'])
  })

  it('requests without a trace begin one; what the caller does not sample and probes have none', async () => {
    const { traceId, headers } = newCaller('00')
    await client.post('/flags/?v=2', { token: project.token, distinct_id: 'unsampled' }, headers)
    await client.get('/_livez')
    await client.post('/flags/?v=2', { token: project.token, distinct_id: 'without-a-trace' })
    const evaluatedFor = () =>
      spansOf(collector).flatMap(span =>
        span.events.map(({ attributes }) => valuesOf(attributes)['feature_flag.context.id']),
      )
    await expect.poll(evaluatedFor).toContain('without-a-trace')
    expect(evaluatedFor()).not.toContain('unsampled')
    expect(spansOf(collector).filter(span => span.traceId === traceId || /livez/.test(span.name))).toEqual([])
  })

  it('a change passes the trace on to the webhook of a plugin, and its log line names it', async () => {
    const plugins = `/api/organizations/${project.organization}/plugins/`
    const { body: plugin } = await client.post(plugins, {})
    const send = `await fetch('${webhooks.url}/', { method: 'POST', body: change.key })`
    const files = {
      'plugin.json': JSON.stringify({ name: 'announce', allowedHosts: [webhooks.host] }),
      'index.ts': `export const onFlagChange = async change => { ${send} }`,
    }
    expect((await client.patch(`${plugins}${plugin.id}/update_source/`, files)).status).toBe(200)
    const config = { plugin: plugin.id, enabled: true, allowed_hosts: [webhooks.host] }
    expect((await client.post(`/api/projects/${project.id}/plugin_configs/`, config)).status).toBe(201)
    const { traceId, headers } = newCaller()
    await client.post(`/api/projects/${project.id}/feature_flags/`, { key: 'announced' }, headers)
    await expect.poll(() => webhooks.requests.length).toBe(1)
    expect(webhooks.requests[0]?.headers).toMatchObject({
      traceparent: expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`)),
      tracestate: 'shop=1',
    })
    await expect.poll(() => logsOf(collector).filter(record => record.traceId === traceId).length).toBeGreaterThan(0)
  })

  it('metrics are those of /metrics, with the resource attributes and headers that the variables set', async () => {
    const text = (await client.get('/metrics')).text
    const served = [...text.matchAll(/^# TYPE (\S+) (?:counter|gauge|histogram)$/gm)].map(([, name]) => name!)
    await expect.poll(() => lastMetrics(collector).names.size).toBeGreaterThan(0)
    const { names, resource } = lastMetrics(collector)
    expect(served.filter(name => !names.has(name))).toEqual([])
    expect(resource).toMatchObject({ 'service.name': 'flags-of-the-shop', 'deployment.environment.name': 'test' })
    expect(collector.requests.every(({ headers }) => headers['api-key'] === 'secret key')).toBe(true)
  })
})

it('an edge passes the trace on to its upstream', async () => {
  const collector = await startReceiver()
  const upstream = await startServer('sqlite::memory:', environmentFor(collector))
  const client = clientOf(upstream.url, ownerKey)
  const project = await firstProject(client)
  // A flag on a property of stored persons: an edge asks its upstream for them.
  const properties = { $set: { plan: 'pro' } }
  await client.post('/e/', { token: project.token, event: '$identify', distinct_id: 'a', properties })
  await client.post(`/api/projects/${project.id}/feature_flags/`, {
    key: 'for-pro',
    filters: { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] },
  })
  const edge = await startEdge(['--upstream', upstream.url, '--key', ownerKey, '--data', join(folder, 'edge')], {
    ...environmentFor(collector),
  })
  try {
    await expect.poll(async () => (await fetch(`${edge.url}/_readyz`)).status).toBe(200)
    const { traceId, headers } = newCaller()
    await clientOf(edge.url, undefined).post('/flags/?v=2', { token: project.token, distinct_id: 'a' }, headers)
    const spans = () => spansOf(collector).filter(span => span.traceId === traceId)
    await expect.poll(() => spans().map(span => span.name)).toHaveLength(2)
    const atEdge = spans().find(span => span.name === 'POST /flags')
    expect(spans().find(span => /subjects/.test(span.name))?.parentSpanId).toBe(atEdge?.spanId)
  } finally {
    await edge.stop()
    await upstream.stop()
    collector.close()
  }
})

describe('the OpenTelemetry SDK', () => {
  it('uses protobuf unless another protocol is set, and sends what is buffered at the stop', async () => {
    const collector = await startReceiver()
    const server = await startServer('sqlite::memory:', {
      ...environmentFor(collector),
      OTEL_EXPORTER_OTLP_PROTOCOL: '',
    })
    await server.stop()
    const logs = collector.requests.filter(({ path }) => path === '/v1/logs')
    expect(logs.map(({ headers }) => headers['content-type'])).toContain('application/x-protobuf')
    expect(logs.some(({ body }) => body.includes('Halyard is serving') && body.includes('flags-of-the-shop'))).toBe(
      true,
    )
    collector.close()
  })

  it('reports once that the collector cannot be reached, and does not keep the server from serving and stopping', async () => {
    const server = await startServer('sqlite::memory:', {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BLRP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
    })
    const reports = () => server.lines.filter(line => line.includes('telemetry_export_failed'))
    await expect.poll(() => reports().length).toBe(1)
    expect(reports()[0]).toContain('ECONNREFUSED')
    expect((await fetch(`${server.url}/_readyz`)).status).toBe(200)
    expect(await server.stop()).toBe(0)
    expect(reports()).toHaveLength(1)
  })

  it('a protocol that it does not speak ends the start with exit code 78', async () => {
    const { code, output } = await runCommand(['serve'], {
      DATABASE_URL: 'sqlite::memory:',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    })
    expect(code).toBe(78)
    expect(output).toMatch(/OTEL_EXPORTER_OTLP_PROTOCOL must be "http\/protobuf" or "http\/json"/)
  })
})
