import { randomBytes } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onEachPath } from '../../testing/paths.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { createEncodingChooser } from './compression.ts'

interface Raw {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Without the decompression that `fetch` does on its own. */
function send(url: string, headers: Record<string, string>, body?: unknown): Promise<Raw> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }
  return new Promise((resolve, reject) => {
    const sending = request(
      url,
      { method: text === undefined ? 'GET' : 'POST', headers: { ...length, ...headers } },
      async response => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) })
      },
    )
    sending.on('error', reject)
    sending.end(text)
  })
}

const decoded = ({ headers, bytes }: Raw): unknown => {
  const encoding = headers['content-encoding']
  const plain = encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'br' ? brotliDecompressSync(bytes) : bytes
  return JSON.parse(String(plain))
}

onEachPath('responses', environment => {
  let s: Scenario
  let authorization: string
  beforeAll(async () => {
    s = await startScenario('sqlite', { environment })
    authorization = `Bearer ${s.key}`
    for (let n = 0; n < 20; n++) {
      const made = await s.post(`${s.project}/feature_flags/`, { key: `flag-${n}`, filters: { groups: [{}] } })
      expect(made.status).toBe(201)
    }
    await evaluate({})
  })
  afterAll(() => s.close())

  const evaluate = (headers: Record<string, string>) =>
    send(`${s.url}/flags/?v=2`, headers, { token: s.projectToken, distinct_id: 'a' })
  const definitions = (headers: Record<string, string>) =>
    send(`${s.url}/flags/definitions?token=${s.projectToken}`, { authorization, ...headers })
  const ofrep = (headers: Record<string, string>) =>
    send(`${s.url}/ofrep/v1/evaluate/flags`, { authorization, ...headers }, { context: { targetingKey: 'a' } })
  const list = (headers: Record<string, string>) =>
    send(`${s.url}${s.project}/feature_flags/`, { authorization, ...headers })
  const withoutTimes = (body: unknown) => {
    const { requestId: _requestId, evaluatedAt: _evaluatedAt, ...rest } = body as Record<string, unknown>
    return rest
  }

  it.each([
    ['an evaluation', evaluate],
    ['definitions', definitions],
    ['an OFREP evaluation', ofrep],
    ['a list', list],
  ])('%s is compressed as the client accepts it', async (_name, get) => {
    const plain = await get({})
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.headers.vary).toBe('accept-encoding')
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['br', 'br'],
      ['gzip;q=0.5, br;q=0.1', 'gzip'],
      ['deflate', undefined],
      ['gzip;q=0', undefined],
    ] as const) {
      // The second one comes from a cache where there is one.
      for (let n = 0; n < 2; n++) {
        const response = await get({ 'accept-encoding': accepted })
        expect([response.status, response.headers['content-encoding']]).toEqual([200, encoding])
        expect(Number(response.headers['content-length'])).toBe(response.bytes.length)
        expect(response.headers.vary).toBe('accept-encoding')
        if (encoding) expect(response.bytes.length).toBeLessThan(plain.bytes.length / 2)
        expect(withoutTimes(decoded(response))).toEqual(withoutTimes(decoded(plain)))
      }
    }
  })

  it('definitions that the client has are still not sent again', async () => {
    const { etag } = (await definitions({ 'accept-encoding': 'gzip' })).headers
    const again = await definitions({ 'accept-encoding': 'gzip', 'if-none-match': etag! })
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag])
    expect(again.headers).not.toHaveProperty('content-encoding')
  })

  it('below one kilobyte are sent as they are', async () => {
    const me = await send(`${s.url}/_livez`, { 'accept-encoding': 'gzip' })
    expect(me.headers).not.toHaveProperty('content-encoding')
    const body = { token: s.projectToken, distinct_id: 'a', flag_keys_to_evaluate: ['flag-1'] }
    const one = await send(`${s.url}/flags/?v=2`, { 'accept-encoding': 'gzip' }, body)
    expect(one.headers).not.toHaveProperty('content-encoding')
    expect(one.headers).not.toHaveProperty('vary')
  })

  /** Text that cannot be compressed much: its encoded form takes many chunks. */
  const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex')

  it.each([
    ['in one piece', 1],
    ['on the thread pool', 6],
  ])('of hundreds of kilobytes are complete when they are compressed %s', async (_name, count) => {
    const keys = Array.from({ length: count }, (_, n) => `large-${count}-${n}`)
    for (const key of keys) {
      const filters = { groups: [{}], payloads: { true: JSON.stringify(noise(200_000)) } }
      expect((await s.post(`${s.project}/feature_flags/`, { key, filters })).status).toBe(201)
    }
    const body = { token: s.projectToken, distinct_id: 'a', flag_keys_to_evaluate: keys }
    const get = (headers: Record<string, string>) => send(`${s.url}/flags/?v=2`, headers, body)
    const plain = await get({})
    expect(plain.bytes.length).toBeGreaterThan(count * 200_000)
    for (const encoding of ['gzip', 'br']) {
      const response = await get({ 'accept-encoding': encoding })
      expect(response.headers['content-encoding']).toBe(encoding)
      expect(Number(response.headers['content-length'])).toBe(response.bytes.length)
      expect(withoutTimes(decoded(response))).toEqual(withoutTimes(decoded(plain)))
    }
  })

  it('to HEAD have no body and no encoding', async () => {
    const response = await fetch(`${s.url}${s.project}/feature_flags/`, {
      method: 'HEAD',
      headers: { authorization, 'accept-encoding': 'gzip' },
    })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.has('content-encoding')).toBe(false)
  })

  it('streams are sent at once and not compressed', async () => {
    const path = `${s.project}/feature_flags/stream?token=${s.projectToken}`
    const first = await new Promise<{ encoding: string | undefined; text: string }>((resolve, reject) => {
      const headers = { authorization, accept: 'text/event-stream', 'accept-encoding': 'gzip, br' }
      const sending = request(`${s.url}${path}`, { headers }, response => {
        response.once('data', chunk => {
          resolve({ encoding: response.headers['content-encoding'], text: String(chunk) })
          sending.destroy()
        })
      })
      sending.on('error', reject)
      sending.end()
    })
    expect(first.encoding).toBeUndefined()
    expect(first.text).toMatch(/^(event|id|data|:)/)
  })
})

describe('the choice of an encoding', () => {
  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity', undefined],
    ['', undefined],
    ['gzip;q=nonsense', undefined],
  ])('for %j is %s', (accepted, encoding) => {
    expect(createEncodingChooser()(accepted)).toBe(encoding)
  })
})
