import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseRequestHead } from './parse-request-head.ts'

const head = (...lines: string[]) => lines.join('\r\n')
const post = 'POST /flags/?v=2 HTTP/1.1'

describe('an ordinary head', () => {
  it('is parsed', () => {
    const text = head(post, 'Host: a', 'User-Agent:  posthog-node/5 \t', 'X-Empty:', 'content-length: 12')
    expect(parseRequestHead(text)).toEqual({
      method: 'POST',
      url: '/flags/?v=2',
      headers: { host: 'a', 'user-agent': 'posthog-node/5', 'x-empty': '', 'content-length': '12' },
      bodyBytes: 12,
    })
    expect(parseRequestHead(head('GET /x HTTP/1.1', 'host: a', 'connection: Keep-Alive'))?.bodyBytes).toBe(0)
  })

  it.each([
    ['another method', head('PUT /flags/?v=2 HTTP/1.1', 'host: a', 'content-length: 1')],
    ['an older version', head('POST /flags/?v=2 HTTP/1.0', 'host: a', 'content-length: 1')],
    ['a whole address', head('POST http://a/flags/?v=2 HTTP/1.1', 'host: a', 'content-length: 1')],
    ['two blanks', head('POST  /flags/?v=2 HTTP/1.1', 'host: a', 'content-length: 1')],
    ['no host', head(post, 'content-length: 1')],
    ['no length', head(post, 'host: a')],
    ['two lengths', head(post, 'host: a', 'content-length: 1', 'Content-Length: 1')],
    ['a length that is none', head(post, 'host: a', 'content-length: +1')],
    ['chunks', head(post, 'host: a', 'content-length: 1', 'Transfer-Encoding: chunked')],
    ['a wish to close', head(post, 'host: a', 'content-length: 1', 'Connection: close')],
    ['an upgrade', head(post, 'host: a', 'content-length: 1', 'Connection: Upgrade', 'Upgrade: x')],
    ['an expectation', head(post, 'host: a', 'content-length: 1', 'Expect: 100-continue')],
    ['a blank before the colon', head(post, 'host: a', 'content-length : 1')],
    ['a folded line', head(post, 'host: a', 'x: b', ' c', 'content-length: 1')],
    ['a bare line feed', head(post, 'host: a\nx: b', 'content-length: 1')],
    ['a control character', head(post, 'host: a', 'x: \u0001', 'content-length: 1')],
    ['a GET with a body', head('GET /flags/definitions?token=x HTTP/1.1', 'host: a', 'content-length: 1')],
  ])('is none with %s', (_name, text) => {
    expect(parseRequestHead(text)).toBeUndefined()
  })
})

describe('a parsed head', () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') }))
    })
  })
  beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => new Promise(resolve => server.close(resolve)))

  /** How Node's parser reads the bytes: the JSON above, or something else. */
  function asNodeReads(bytes: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.end(bytes))
      const chunks: Buffer[] = []
      socket.on('data', chunk => chunks.push(chunk))
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
      socket.on('error', reject)
    })
  }

  const character = fc.constantFrom(...'aZ09-_.:;,/?=&%"\'()<>@ \t\r\n\0\x7f\x80\xff')
  const word = fc.string({ unit: character, maxLength: 6 })
  const name = fc.oneof(
    fc.constantFrom('X-A', 'User-Agent', 'Content-Length', 'Cookie', 'Accept', 'Set-Cookie', '__proto__', 'x'),
    word,
  )
  const value = fc.oneof(fc.constantFrom('1', 'b c', '', 'keep-alive'), word)
  const line = fc
    .tuple(name, fc.constantFrom(':', ': ', ':\t ', ' :'), value, fc.constantFrom('', ' ', '\t'))
    .map(parts => parts.join(''))
  const lines = fc.tuple(
    fc.tuple(
      fc.constantFrom('GET', 'POST'),
      fc.oneof(
        fc.constant('/flags/?v=2'),
        word.map(text => `/${text}`),
      ),
    ),
    fc.array(line, { maxLength: 4 }),
    fc.boolean(),
  )

  it('equals what Node reads, and is exactly one request', async () => {
    let read = 0
    await fc.assert(
      fc.asyncProperty(lines, async ([[method, url], extra, isFirst]) => {
        const usual = ['Host: a', ...(method === 'POST' ? ['Content-Length: 5'] : [])]
        const text = head(`${method} ${url} HTTP/1.1`, ...(isFirst ? [...usual, ...extra] : [...extra, ...usual]))
        const plain = parseRequestHead(text)
        if (!plain) return
        read += 1
        const body = 'GET /'.slice(0, plain.bodyBytes)
        const answer = await asNodeReads(Buffer.from(`${text}\r\n\r\n${body}`, 'latin1'))
        expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
        const seen = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
        expect(seen).toEqual({ method: plain.method, url: plain.url, headers: { ...plain.headers }, body })
      }),
      { numRuns: 1500 },
    )
    expect(read).toBeGreaterThan(50)
  })
})
