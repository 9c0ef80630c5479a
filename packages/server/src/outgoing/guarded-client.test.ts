import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedClient } from './guarded-client.ts'
import { type Outgoing, OutgoingFailure } from './outgoing.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const servers: Server[] = []
const clients: Outgoing[] = []
let origin: string
let otherOrigin: string
let handler: Handler
let visits: string[]

beforeAll(async () => {
  origin = await listen((request, response) => handler(request, response))
  otherOrigin = await listen((request, response) => {
    visits.push(`${request.method} ${request.headers.authorization ?? 'no key'}`)
    response.end('other')
  })
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.close()))
})
afterAll(() => {
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
})

async function listen(listener: Handler): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function client(...trustedOrigins: string[]): Outgoing {
  const made = createGuardedClient({ trustedOrigins })
  clients.push(made)
  return made
}

function get(outgoing: Outgoing, url: string, more: object = {}) {
  visits = []
  return outgoing.request({ url, timeoutMsMax: 5_000, answerBytesMax: 1_000, ...more })
}

async function failureOf(work: Promise<unknown>): Promise<OutgoingFailure> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof OutgoingFailure) return error
  throw error
}

describe('a guarded client', () => {
  test('reaches an origin that the operator trusts', async () => {
    handler = (request, response) => {
      response.setHeader('X-Seen', `${request.method} ${request.headers['x-a']}`)
      response.end('hello')
    }
    const answer = await get(client(origin), `${origin}/x`, { method: 'post', headers: { 'X-A': 'b' }, body: 'c' })
    expect(answer).toMatchObject({ status: 200, url: `${origin}/x` })
    expect(answer.headers['x-seen']).toBe('POST b')
    expect(answer.body.toString()).toBe('hello')
  })

  test.each([
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://0/',
  ])('refuses the literal address %s', async url => {
    expect((await failureOf(get(client(), url))).kind).toBe('refused')
  })

  test('refuses a name that resolves to this machine', async () => {
    const url = origin.replace('127.0.0.1', 'localhost')
    const failure = await failureOf(get(client(origin), url))
    expect(failure.kind).toBe('refused')
    expect(failure.message).toBe('localhost was not found or is not a public address.')
  })

  test.each(['ftp://example.com/', 'file:///etc/passwd', 'gopher://x', 'no address', 'http://user:pass@example.com/'])(
    'refuses %s',
    async url => {
      expect((await failureOf(get(client(), url))).kind).toBe('refused')
    },
  )

  test('refuses a redirect to a private address', async () => {
    handler = (_request, response) => response.writeHead(302, { location: `${otherOrigin}/secret` }).end()
    expect((await failureOf(get(client(origin), origin))).kind).toBe('refused')
    expect(visits).toEqual([])
  })

  test('refuses a redirect to another protocol', async () => {
    handler = (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()
    expect((await failureOf(get(client(origin), origin))).kind).toBe('refused')
  })

  test('follows a redirect, but not with the credentials of the first origin', async () => {
    handler = (_request, response) => response.writeHead(302, { location: otherOrigin }).end()
    const headers = { Authorization: 'Bearer secret' }
    const answer = await get(client(origin, otherOrigin), origin, { headers, method: 'POST', body: 'x' })
    expect(answer.body.toString()).toBe('other')
    expect(visits).toEqual(['GET no key'])
  })

  test('refuses hosts that the caller does not allow, also behind a redirect', async () => {
    handler = (_request, response) => response.writeHead(307, { location: otherOrigin }).end()
    const mayVisit = (url: URL) => url.origin === origin
    expect((await failureOf(get(client(origin, otherOrigin), origin, { mayVisit }))).message).toContain(
      'not an allowed',
    )
    expect(visits).toEqual([])
  })

  test('gives up on redirects without end', async () => {
    handler = (_request, response) => response.writeHead(302, { location: '/again' }).end()
    expect((await failureOf(get(client(origin), origin))).message).toBe('There were more than 5 redirects.')
  })

  test('stops reading an answer that is too large', async () => {
    handler = (_request, response) => {
      const pour = () => {
        while (response.write('x'.repeat(10_000))) {}
      }
      response.on('drain', pour)
      pour()
    }
    expect((await failureOf(get(client(origin), origin))).kind).toBe('too_large')
  })

  test('stops waiting', async () => {
    handler = () => {}
    expect((await failureOf(get(client(origin), origin, { timeoutMsMax: 50 }))).kind).toBe('timeout')
    handler = (_request, response) => response.write('slow')
    expect((await failureOf(get(client(origin), origin, { timeoutMsMax: 50 }))).kind).toBe('timeout')
  })

  test('reports a target that does not respond', async () => {
    handler = (request, _response) => request.socket.destroy()
    const failure = await failureOf(get(client(origin), origin))
    expect(failure.kind).toBe('unreachable')
    expect(failure.message).toContain(new URL(origin).host)
  })
})
