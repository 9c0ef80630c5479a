import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

describe('HTTP', () => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario('sqlite', {
      environment: { HALYARD_BODY_BYTES_MAX: '2048', HALYARD_REQUESTS_PER_MINUTE_MAX: '60' },
    })
  })
  afterAll(() => s.close())

  it('refuses a body over the limit with 413 and stores nothing', async () => {
    const reply = await s.post(`${s.project}/feature_flags/`, { key: 'big', name: 'x'.repeat(4000) })
    expect([reply.status, reply.body.code]).toEqual([413, 'request_too_large'])
    expect((await s.get(`${s.project}/feature_flags/`)).body.count).toBe(0)
  })

  it('serves with and without a trailing slash', async () => {
    expect((await s.get('/api/projects')).status).toBe(200)
    expect((await s.get('/api/projects/')).status).toBe(200)
  })

  it('sends a request id and security headers with every response', async () => {
    const reply = await s.get('/api/nothing/here/')
    expect([reply.status, reply.body]).toEqual([
      404,
      { type: 'invalid_request', code: 'not_found', detail: 'No resource exists at this URL.', attr: null },
    ])
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(reply.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const kept = await s.get('/api/projects/', { 'x-request-id': 'abc.123' })
    expect(kept.headers.get('x-request-id')).toBe('abc.123')
  })

  it('responds to HEAD like GET, without the body', async () => {
    const headers = { authorization: `Bearer ${s.key}` }
    for (const path of ['/api/projects/', '/api/docs/', '/api/schema/']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map(method =>
          fetch(s.url + path, { method, headers: { ...headers, 'accept-encoding': 'identity' } }),
        ),
      )
      const sent = (response: Response) => ['content-type', 'content-length'].map(name => response.headers.get(name))
      expect([path, head!.status, ...sent(head!)]).toEqual([path, 200, ...sent(get!)])
      expect(await head!.text()).toBe('')
      await get!.body?.cancel()
    }
    const statusOf = async (path: string) => {
      const response = await fetch(s.url + path, { method: 'HEAD', headers })
      return [response.status, response.headers.get('allow')]
    }
    expect(await statusOf('/api/nothing/here/')).toEqual([404, null])
    expect(await statusOf('/api/login/')).toEqual([405, 'POST'])
    const metrics = await s.as(undefined).get('/metrics')
    expect(metrics.text).toMatch(/halyard_http_requests_total\{[^}]*method="HEAD"[^}]*route="\/api\/projects\/?"/)
  })

  it('responds 404 for unknown projects', async () => {
    for (const id of ['999999', 'abc', '1abc', '-1', '%20', '1.0', '99999999999999999999']) {
      expect([id, (await s.get(`/api/projects/${id}/feature_flags/`)).status]).toEqual([id, 404])
    }
    for (const id of ['nope', '018f0000-0000-7000-8000-000000000000', '%00']) {
      expect([id, (await s.get(`/api/organizations/${id}/roles/`)).status]).toEqual([id, 404])
    }
    expect((await s.get('/api/organizations/@current/roles/')).status).toBe(200)
  })

  it('never returns a stack trace', async () => {
    for (const path of ['/api/projects/%ZZ/', '/%', '/api/projects/1/feature_flags/%E0%A4%A/']) {
      const reply = await s.send(path, {})
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThan(500)
      expect(reply.text).not.toMatch(/\n\s+at |<html/i)
    }
    const raw = await rawRequest(s.url, 'GET /api/projects/ HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n')
    expect(raw).toMatch(/^HTTP\/1\.1 400/)
  })

  it('describes itself', async () => {
    const schema = await s.as(undefined).get('/api/schema/')
    expect(schema.body.openapi).toBe('3.1.0')
    expect(schema.body.paths['/api/projects/{project_id}/feature_flags/{id}/']).toHaveProperty('patch')
    const docs = await s.as(undefined).get('/api/docs/')
    expect(docs.headers.get('content-type')).toContain('text/html')
    expect(docs.text).toContain('href="/api/schema/"')
    expect(docs.headers.get('content-security-policy')).toContain("script-src 'self'")
  })

  it('responds to health probes, under their usual names too', async () => {
    const client = s.as(undefined)
    const about = { version: expect.any(String), uptime_seconds: expect.any(Number) }
    for (const path of ['/_livez', '/livez', '/healthz', '/health']) {
      expect((await client.get(path)).body).toEqual({ status: 'ok', ...about })
    }
    const ready = { status: 'ready', evaluation: 'ok', writes: 'ok', database: 'ok', ...about }
    for (const path of ['/_readyz', '/readyz', '/_readyz?for=evaluation']) {
      expect((await client.get(path)).body).toEqual(ready)
    }
    const metrics = await client.get('/metrics')
    expect(metrics.text).toContain('halyard_http_requests_total{method="GET",route="/_livez",status="200"} 1')
    s.halyard.drain()
    expect((await client.get('/_readyz')).status).toBe(503)
    expect((await client.get('/_readyz?for=evaluation')).status).toBe(503)
  })

  it('limits requests by key when configured', async () => {
    const made = await s.post('/api/personal_api_keys/', { label: 'busy' })
    const busy = s.as(made.body.value)
    const replies = []
    for (let n = 0; n < 61; n++) replies.push(await busy.get('/api/users/@me/'))
    expect(replies.slice(0, 60).every(reply => reply.status === 200)).toBe(true)
    const last = replies[60]!
    expect([last.status, last.body.type, last.body.code]).toEqual([429, 'throttled_error', 'throttled'])
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

function rawRequest(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let answer = ''
    socket.on('data', data => {
      answer += data
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
