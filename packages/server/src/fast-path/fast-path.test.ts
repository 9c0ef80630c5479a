import { request } from 'node:http'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../testing/scenario.ts'

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

interface Told {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: Record<string, unknown>
}

function ask(path: string, sent: string | Buffer, headers: Record<string, string> = {}): Promise<Told> {
  return new Promise((resolve, reject) => {
    const asking = request(s.url + path, { method: 'POST', agent: false, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        const { requestId, evaluatedAt, ...body } = JSON.parse(Buffer.concat(chunks).toString())
        if (statusCode === 200) expect([typeof requestId, typeof evaluatedAt]).toEqual(['string', 'number'])
        resolve({ status: statusCode, headers: { ...headers, date: '', connection: '', 'keep-alive': '' }, body })
      })
    })
    asking.on('error', reject)
    asking.end(sent)
  })
}

/** The same request on a connection without `node:http`, on one with it, and past both to the router. */
async function threeWays(
  body: object | string,
  path = '/flags/?v=2',
  said: Record<string, string> = {},
): Promise<[Told, Told, Told]> {
  const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent)), ...said }
  return [
    await ask(path, sent, { ...headers, connection: 'keep-alive' }),
    await ask(path, sent, { ...headers, connection: 'close' }),
    await ask(`${path}${path.includes('?') ? '&' : '?'}and=more`, sent, headers),
  ]
}

function expectAlike([plain, http, routed]: readonly [Told, Told, Told], about: string): void {
  expect([http.status, http.body], about).toEqual([plain.status, plain.body])
  expect([routed.status, routed.body], about).toEqual([plain.status, plain.body])
  expect(http.headers).toEqual(plain.headers)
  for (const name of ['content-type', 'access-control-allow-origin', 'cache-control', 'x-content-type-options']) {
    expect(plain.headers[name], name).toBe(routed.headers[name])
  }
}

it('answers the same on each way', async () => {
  const token = s.projectToken
  const bodies = [
    { token, distinct_id: 'somebody', person_properties: { plan: 'pro', seats: 4 } },
    { token, distinct_id: 'größer', person_properties: { plan: 'größer', seats: '2' } },
    { api_key: token, $distinct_id: '日本', person_properties: [] },
    { token, distinct_id: 7, groups: { company: 'acme' }, $anon_distinct_id: 'a', $device_id: 'd' },
    { token, distinct_id: 'x', flag_keys_to_evaluate: ['flag-2', 'missing'] },
    { token, distinct_id: 'x', evaluation_contexts: ['main'], evaluation_runtime: 'server' },
    { token, distinct_id: 'x', disable_flags: true },
    ...Array.from({ length: 20 }, (_, n) => ({ token, distinct_id: `user-${n}`, person_properties: { seats: n } })),
    { token, distinct_id: 'deep', person_properties: JSON.parse('{"a":'.repeat(120) + 1 + '}'.repeat(120)) },
    { token },
    { token: 'phc_nobody', distinct_id: 'x' },
    { distinct_id: 'x' },
    '[]',
    '{"token":',
  ]
  for (const body of bodies) {
    expectAlike(await threeWays(body), JSON.stringify(body).slice(0, 200))
  }
})

const addresses = [
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

it.each(addresses)('answers the same on each way at %s', async path => {
  const body = { token: s.projectToken, distinct_id: 'größer', person_properties: { plan: 'pro', seats: 4 } }
  const ways = await threeWays(body, path)
  expect(ways[0].status).toBe(200)
  expectAlike(ways, path)
  expectAlike(await threeWays({ ...body, flag_keys_to_evaluate: ['flag-2'] }, path), path)
})

it('answers the same on each way however the body is packed', async () => {
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
    [`{"token":"&data=${encodeURIComponent(json)}&ver="}`, '', form],
    [gzipSync(gzipSync(json)), '', text],
  ]
  for (const [body, more, headers] of sent) {
    const ways = await threeWays(body, `/flags/?v=2${more}`, headers)
    expect(ways[0].status).toBe(200)
    expectAlike(ways, `${more} ${JSON.stringify(headers)}`)
  }
  for (const body of [packed.subarray(0, 40), 'data=%', 'data=W10%3D', gzipSync(Buffer.alloc(9_000_000, 0x20))]) {
    const ways = await threeWays(body, '/flags/?v=2', form)
    expect(ways[0].status).toBeGreaterThanOrEqual(400)
    expectAlike(ways, String(body).slice(0, 40))
  }
})

it('counts alike', async () => {
  const totals = () => ({ ...s.halyard.serving.counts.totals })
  const body = { token: s.projectToken, distinct_id: 'somebody' }
  const before = totals()
  await threeWays(body)
  const after = totals()
  expect([after.requests - before.requests, after.flags - before.flags]).toEqual([3, 12])
  expect(after.seconds).toBeGreaterThan(before.seconds)
})

it('sees every change at once', async () => {
  const body = { token: s.projectToken, distinct_id: 'somebody' }
  const made = await s.post(`${s.project}/feature_flags/`, { key: 'späť', filters: { groups: [{}] } })
  for (const { body: told } of await threeWays(body)) expect(told.flags).toHaveProperty('späť.enabled', true)
  await s.patch(`${s.project}/feature_flags/${made.body.id}/`, { active: false })
  for (const { body: told } of await threeWays(body)) expect(told.flags).not.toHaveProperty('späť')
})
