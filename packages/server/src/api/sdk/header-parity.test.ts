import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

/** The same servers, with and without the fast path. */
let fast: Scenario
let ordinary: Scenario
const environment = { HALYARD_REQUESTS_PER_MINUTE_MAX: '40', HALYARD_REQUESTS_IN_FLIGHT_MAX: '1' }

beforeAll(async () => {
  fast = await startScenario('sqlite', { environment })
  ordinary = await startScenario('sqlite', { environment: { ...environment, HALYARD_FAST_PATH: 'off' } })
  for (const s of [fast, ordinary]) {
    const made = await s.post(`${s.project}/feature_flags/`, { key: 'flag', filters: { groups: [{}] } })
    expect(made.status).toBe(201)
  }
})
afterAll(async () => {
  await fast.close()
  await ordinary.close()
})

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

interface Response {
  readonly status: number
  /** Names in lower case with their values, sorted. */
  readonly headers: readonly (readonly [string, string])[]
}

function call(s: Scenario, { method, path, body, headers }: Call): Promise<Response> {
  return new Promise((resolve, reject) => {
    const length: Record<string, string> =
      body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = { 'x-request-id': 'parity-1', ...length, ...headers }
    const agent = new Agent({ keepAlive: true })
    const sending = request(s.url + path, { method, agent, headers: sent }, response => {
      response.resume()
      response.on('end', () => {
        agent.destroy()
        const { rawHeaders, statusCode = 0 } = response
        const pairs = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1]!] as const] : [],
        )
        // The clock ticks between two calls; everything else has to be equal.
        const comparable = pairs.map(([name, value]) => [name, name === 'date' ? 'now' : value] as const)
        resolve({ status: statusCode, headers: comparable.sort(([a], [b]) => (a < b ? -1 : 1)) })
      })
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const evaluation = (s: Scenario, more: object = {}) =>
  JSON.stringify({ token: s.projectToken, distinct_id: 'user-1', ...more })
const post = (path: string, body: string): Call => ({ method: 'POST', path, body, headers: json })

const calls: Readonly<Record<string, readonly [number, (s: Scenario) => Call]>> = {
  'an evaluation': [200, s => post('/flags/?v=2', evaluation(s))],
  'an evaluation in the older shape': [200, s => post('/decide/?v=3', evaluation(s))],
  'an evaluation of one flag': [200, s => post('/flags/?v=2', evaluation(s, { flag_keys_to_evaluate: ['flag'] }))],
  'an invalid evaluation': [400, s => post('/flags/?v=2', JSON.stringify({ token: s.projectToken }))],
  'a body that is no JSON': [400, () => post('/flags/?v=2', '{"token":')],
  'an unknown token': [401, () => post('/flags/?v=2', JSON.stringify({ token: 'phc_unknown', distinct_id: 'a' }))],
  'a body that is too large': [413, s => post('/flags/?v=2', evaluation(s, { x: 'x'.repeat(1_100_000) }))],
  'a preflight': [204, () => ({ method: 'OPTIONS', path: '/flags/?v=2' })],
  'definitions without a key': [401, s => ({ method: 'GET', path: `/flags/definitions?token=${s.projectToken}` })],
  definitions: [200, s => definitions(s)],
  'unchanged definitions': [304, s => definitions(s, { 'if-none-match': '*' })],
  'a liveness probe': [200, () => ({ method: 'GET', path: '/_livez' })],
}

const definitions = (s: Scenario, headers: Record<string, string> = {}): Call => ({
  method: 'GET',
  path: `/flags/definitions?token=${s.projectToken}`,
  headers: { authorization: `Bearer ${s.key}`, ...headers },
})

/** Tokens and bodies differ in content, not in length; hashes over them differ. */
const without = (names: readonly string[], { status, headers }: Response) => ({
  status,
  headers: headers.filter(([name]) => !names.includes(name)),
})

describe('both paths send the same headers', () => {
  it.each(Object.entries(calls))('for %s', async (_name, [status, callOf]) => {
    // The first request reads the project into memory, the second is answered from there.
    await call(fast, callOf(fast))
    const [first, second] = [await call(fast, callOf(fast)), await call(ordinary, callOf(ordinary))]
    expect(first.status).toBe(status)
    const differing = ['etag', 'x-halyard-project-token', ...(status === 200 ? ['content-length'] : [])]
    expect(without(differing, first)).toEqual(without(differing, second))
    expect(first.headers.map(([name]) => name)).toEqual(second.headers.map(([name]) => name))
    expect(first.headers).toContainEqual(['x-request-id', 'parity-1'])
  })

  it('although only one of them has a fast path', () => {
    expect(fast.halyard.serving.counts.totals.fallbacks.refused).toBeGreaterThan(0)
    expect(ordinary.halyard.serving.counts.totals.fallbacks.refused).toBe(0)
  })

  it('for an evaluation that is shed', async () => {
    const responses: Response[] = []
    for (const s of [fast, ordinary]) {
      const held = request(`${s.url}/api/login/`, { method: 'POST', headers: { 'content-length': '10' } })
      held.on('error', () => {})
      held.write('{')
      const inFlight = async () => /halyard_http_requests_in_flight 1/.test((await s.get('/metrics')).text)
      await expect.poll(inFlight).toBe(true)
      responses.push(await call(s, post('/flags/?v=2', evaluation(s))))
      held.destroy()
      await expect.poll(inFlight).toBe(false)
    }
    expect(responses[0]!.status).toBe(503)
    expect(responses[0]).toEqual(responses[1])
    expect(responses[0]!.headers).toContainEqual(['retry-after', '1'])
  })

  it('for a key that is throttled', async () => {
    const responses: Response[] = []
    for (const s of [fast, ordinary]) {
      const me: Call = { method: 'GET', path: '/api/users/@me/', headers: { authorization: `Bearer ${s.key}` } }
      for (let n = 0; n < 40; n++) await call(s, me)
      responses.push(without(['retry-after', 'content-length'], await call(s, me)))
    }
    expect(responses[0]!.status).toBe(429)
    expect(responses[0]).toEqual(responses[1])
  })
})
