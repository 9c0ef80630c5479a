import { request } from 'node:http'
import { connect } from 'node:net'
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

let s: Scenario
beforeAll(async () => {
  s = await startScenario('sqlite')
  const filters = [
    { groups: [{ properties: [], rollout_percentage: 50 }] },
    { groups: [{ properties: [{ key: 'plan', value: ['pro', 'größer'], type: 'person' }], rollout_percentage: 100 }] },
    {
      groups: [{ properties: [], rollout_percentage: 100 }],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 50 },
          { key: 'test', rollout_percentage: 50 },
        ],
      },
      payloads: { control: '{"text":"日本語 \\" \\u2028"}', test: '"🚀"' },
    },
    { groups: [{ properties: [{ key: 'seats', value: 3, operator: 'gt', type: 'person' }] }] },
  ]
  for (const [index, one] of filters.entries()) {
    const made = await s.post(`${s.project}/feature_flags/`, { key: `flag-${index}`, filters: one })
    expect(made.status).toBe(201)
  }
})
afterAll(() => s.close())

interface Response {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: Record<string, unknown>
}

function send(path: string, sent: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sending = request(s.url + path, { method: 'POST', agent: false, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        const isZipped = headers['content-encoding'] === 'gzip'
        const bytes = isZipped ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)
        const { evaluatedAt, ...body } = JSON.parse(bytes.toString())
        if (statusCode === 200) expect([body.requestId, typeof evaluatedAt]).toEqual([requestId, 'number'])
        resolve({ status: statusCode, headers: { ...headers, date: '', connection: '', 'keep-alive': '' }, body })
      })
    })
    sending.on('error', reject)
    sending.end(sent)
  })
}

const requestId = 'proxy-1:2.3'

/** The same request on the fast path and, because its body is chunked, on the ordinary route. */
async function bothWays(
  body: object | string,
  path = '/flags/?v=2',
  more: Record<string, string> = {},
): Promise<[Response, Response]> {
  const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'x-request-id': requestId, ...more }
  return [
    await send(path, sent, { ...headers, 'content-length': String(Buffer.byteLength(sent)) }),
    await send(path, sent, { ...headers, 'transfer-encoding': 'chunked' }),
  ]
}

function expectAlike([fast, ordinary]: readonly [Response, Response], about: string): void {
  expect(fast, about).toEqual(ordinary)
}

it('gives the same response on both paths', async () => {
  const token = s.projectToken
  const bodies = [
    { token, distinct_id: 'user-1', person_properties: { plan: 'pro', seats: 4 } },
    { token, distinct_id: 'größer', person_properties: { plan: 'größer', seats: '2' } },
    { api_key: token, $distinct_id: '日本', person_properties: [] },
    { token, distinct_id: 7, groups: { company: 'acme' }, $anon_distinct_id: 'a', $device_id: 'd' },
    { token, distinct_id: 'x', flag_keys_to_evaluate: ['flag-2', 'missing'] },
    { token, distinct_id: 'x', evaluation_contexts: ['main'], evaluation_runtime: 'server' },
    { token, distinct_id: 'x', disable_flags: true },
    ...Array.from({ length: 20 }, (_, n) => ({ token, distinct_id: `user-${n}`, person_properties: { seats: n } })),
    { token, distinct_id: 'deep', person_properties: JSON.parse('{"a":'.repeat(120) + 1 + '}'.repeat(120)) },
    { token },
    { token: 'phc_unknown', distinct_id: 'x' },
    { distinct_id: 'x' },
    '[]',
    '{"token":',
  ]
  for (const body of bodies) {
    expectAlike(await bothWays(body), JSON.stringify(body).slice(0, 200))
  }
})

const urls = [
  '/flags?v=2',
  '/flags/?v=2&config=true',
  '/flags/?v=2&config=false',
  '/flags/?v=2&ip=0&_=1763200000000&ver=1.374.0',
  '/flags/?v=1',
  '/flags/',
  '/flags?config=1',
  '/decide/?v=4',
  '/decide/?v=3&ip=1&_=7&ver=1.149.0',
  '/decide/?v=2',
  '/decide',
]

it.each(urls)('gives the same response on both paths at %s', async path => {
  const body = { token: s.projectToken, distinct_id: 'größer', person_properties: { plan: 'pro', seats: 4 } }
  const responses = await bothWays(body, path)
  expect(responses[0].status).toBe(200)
  expectAlike(responses, path)
  expectAlike(await bothWays({ ...body, flag_keys_to_evaluate: ['flag-2'] }, path), path)
})

it('gives the same response on both paths however the body is encoded', async () => {
  const json = JSON.stringify({ token: s.projectToken, distinct_id: 'größer?>', person_properties: { plan: 'größer' } })
  const base64 = Buffer.from(json).toString('base64')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const text = { 'content-type': 'text/plain' }
  const packed = gzipSync(json)
  const sent: [string | Buffer, string, Record<string, string>][] = [
    [packed, '', text],
    [packed, '', { ...text, 'content-encoding': 'gzip' }],
    [packed, '&compression=gzip-js', text],
    [json, '', { ...text, 'content-encoding': 'gzip' }],
    [deflateSync(json), '', { ...text, 'content-encoding': 'deflate' }],
    [`data=${encodeURIComponent(base64)}`, '&compression=base64', form],
    [`data=${base64}`, '', form],
    [`data=${encodeURIComponent(packed.toString('base64'))}`, '', text],
    [`data=${encodeURIComponent(json)}`, '', form],
    [`ip=0&data=${encodeURIComponent(base64)}`, '', form],
    [base64, '&compression=base64', text],
    [json, '', form],
  ]
  for (const [body, more, headers] of sent) {
    const responses = await bothWays(body, `/flags/?v=2${more}`, headers)
    expect(responses[0].status).toBe(200)
    expectAlike(responses, `${more} ${JSON.stringify(headers)}`)
  }
  const wrong = [
    packed.subarray(0, 40),
    'data=%',
    'data=W10%3D',
    `{"token":"&data=${encodeURIComponent(json)}&ver="}`,
    gzipSync(packed),
    gzipSync(Buffer.alloc(9_000_000, 0x20)),
  ]
  for (const body of wrong) {
    const responses = await bothWays(body, '/flags/?v=2', form)
    expect(responses[0].status).toBeGreaterThanOrEqual(400)
    expectAlike(responses, String(body).slice(0, 40))
  }
})

it('compresses what it has compressed before, and what is new, like the ordinary route', async () => {
  const filters = {
    groups: [{ properties: [], rollout_percentage: 50 }],
    payloads: { true: JSON.stringify('ö'.repeat(2000)) },
  }
  const made = await s.post(`${s.project}/feature_flags/`, { key: 'wordy', filters })
  const gzip = { 'accept-encoding': 'gzip' }
  for (const path of urls) {
    for (const distinct_id of ['user-1', 'user-2', 'user-1', 'user-3', 'user-2']) {
      for (const more of [{}, { flag_keys_to_evaluate: ['wordy'] }, { person_properties: { plan: 'pro' } }]) {
        const body = { token: s.projectToken, distinct_id, ...more }
        const [fast, ordinary] = await bothWays(body, path, gzip)
        expect(fast.body).toEqual((await bothWays(body, path))[0].body)
        const { 'content-length': _fastBytes, 'transfer-encoding': _fastChunks, ...fastHeaders } = fast.headers
        const { 'content-length': _bytes, 'transfer-encoding': _chunks, ...headers } = ordinary.headers
        expectAlike(
          [
            { ...fast, headers: fastHeaders },
            { ...ordinary, headers },
          ],
          `${path} ${distinct_id}`,
        )
      }
    }
  }
  const request = { token: s.projectToken, distinct_id: 'user-1' }
  const [before] = await bothWays(request, '/flags/?v=2', gzip)
  expect(before.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
  await s.patch(`${s.project}/feature_flags/${made.body.id}/`, {
    filters: { ...filters, payloads: { true: '"short"' }, groups: [{}] },
  })
  for (const { body } of await bothWays(request, '/flags/?v=2', gzip))
    expect(body.flags).toHaveProperty('wordy.metadata.payload', '"short"')
  await s.patch(`${s.project}/feature_flags/${made.body.id}/`, { deleted: true })
})

it('counts the same on both paths', async () => {
  const totals = () => ({ ...s.halyard.serving.counts.totals })
  const body = { token: s.projectToken, distinct_id: 'user-1' }
  const before = totals()
  await bothWays(body)
  const after = totals()
  expect([after.requests - before.requests, after.flags - before.flags]).toEqual([2, 8])
  expect(after.seconds).toBeGreaterThan(before.seconds)
})

it('counts the requests that it passes to the ordinary route', async () => {
  const fallbacks = () => ({ ...s.halyard.serving.counts.totals.fallbacks })
  const before = fallbacks()
  const body = { token: s.projectToken, distinct_id: 'user-1' }
  await bothWays(body)
  expect(fallbacks()).toEqual({ ...before, body: before.body + 1 })
  await bothWays({ ...body, token: 'phc_unknown' })
  expect(fallbacks()).toEqual({ body: before.body + 2, refused: before.refused + 1 })
})

it('answers pipelined requests in order, and other clients in between', async () => {
  const body = JSON.stringify({ token: s.projectToken, distinct_id: 'user-1' })
  const requests = Array.from(
    { length: 2000 },
    (_, n) =>
      `POST /flags/?v=2 HTTP/1.1\r\nHost: a\r\nX-Request-Id: id-${n}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const { hostname, port } = new URL(s.url)
  const greedy = connect(Number(port), hostname)
  let text = ''
  greedy.on('data', chunk => {
    text += chunk.toString('latin1')
  })
  const idsOf = () => Array.from(text.matchAll(/x-request-id: id-(\d+)/g), ([, id]) => Number(id))
  greedy.write(requests.join(''))
  await expect.poll(() => idsOf().length, { interval: 1 }).toBeGreaterThan(0)
  expect((await bothWays(JSON.parse(body)))[0].status).toBe(200)
  const between = idsOf().length
  await expect.poll(() => idsOf().length).toBe(requests.length)
  expect(idsOf()).toEqual(requests.map((_, n) => n))
  expect(text.match(/HTTP\/1\.1 (?!200|503)/)).toBeNull()
  expect(between).toBeLessThan(requests.length)
  greedy.destroy()
})

it('applies every change at once on both paths', async () => {
  const sent = { token: s.projectToken, distinct_id: 'user-1' }
  const made = await s.post(`${s.project}/feature_flags/`, { key: 'späť', filters: { groups: [{}] } })
  for (const { body } of await bothWays(sent)) expect(body.flags).toHaveProperty('späť.enabled', true)
  await s.patch(`${s.project}/feature_flags/${made.body.id}/`, { active: false })
  for (const { body } of await bothWays(sent)) expect(body.flags).not.toHaveProperty('späť')
})

/** Sends all requests at once on one connection; the responses are read only when the returned function is called. */
function sendUnread(ids: readonly string[]): { responses(): Promise<string> } {
  const socket = connect(Number(new URL(s.url).port), '127.0.0.1')
  socket.pause()
  for (const [n, id] of ids.entries()) {
    const body = JSON.stringify({ token: s.projectToken, distinct_id: id })
    const last = n === ids.length - 1 ? 'connection: close\r\n' : ''
    const head = `POST /flags/?v=2 HTTP/1.1\r\nhost: x\r\n${last}x-request-id: ${id}\r\ncontent-type: application/json`
    socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  }
  return {
    async responses() {
      const chunks: Buffer[] = []
      socket.resume()
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    },
  }
}

it('keeps the responses that a client has not read yet apart from later ones', async () => {
  const payload = JSON.stringify('x'.repeat(60_000))
  const filters = { groups: [{ properties: [] }], payloads: { true: payload } }
  expect((await s.post(`${s.project}/feature_flags/`, { key: 'large', filters })).status).toBe(201)
  const idsOf = (client: number) => Array.from({ length: 60 }, (_, n) => `client-${client}-${n}`)
  const unread = [0, 1, 2].map(client => sendUnread(idsOf(client)))
  const path = '/flags/?v=2'
  for (let n = 0; n < 100; n++) {
    const sent = JSON.stringify({ token: s.projectToken, distinct_id: `reader-${n}` })
    const headers = { 'x-request-id': requestId, 'content-length': String(sent.length) }
    expect((await send(path, sent, headers)).status).toBe(200)
  }
  for (const [client, one] of unread.entries()) {
    const text = await one.responses()
    expect([...text.matchAll(/"requestId":"([^"]*)"/g)].map(([, id]) => id)).toEqual(idsOf(client))
    const bodies = text.split(/HTTP\/1\.1 200 OK\r\n[^{]*/).slice(1)
    for (const body of bodies) expect(JSON.parse(body).flags.large.metadata.payload).toBe(payload)
    expect(bodies).toHaveLength(60)
  }
})
