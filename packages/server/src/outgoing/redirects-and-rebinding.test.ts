import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGuardedClient, type GuardedClientOptions } from './guarded-client.ts'
import { type Outgoing, OutgoingFailure } from './outgoing.ts'

/**
 * A server on loopback that stands for a public one: 127.0.0.1 counts as allowed, every other address as private. Names
 * are resolved by the test.
 */
interface Visit {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

let server: Server
let port: number
let handler: (request: IncomingMessage, response: ServerResponse) => void
let visits: Visit[] = []
let lookups: string[] = []
const clients: Outgoing[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    visits.push({ path: request.url!, method: request.method!, headers: request.headers })
    handler(request, response)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})
beforeEach(() => {
  visits = []
  lookups = []
  handler = (_request, response) => response.end('ok')
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.close()))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** `zone` has the addresses that each further lookup of a name returns; the last one stays. */
function client(zone: Record<string, string[][]>, options: GuardedClientOptions = {}): Outgoing {
  const made = createGuardedClient({
    isAllowedAddress: address => address === '127.0.0.1',
    resolve(hostname, _options, done) {
      lookups.push(hostname)
      const answers = zone[hostname] ?? []
      const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
      done(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
    ...options,
  })
  clients.push(made)
  return made
}

const get = (outgoing: Outgoing, host: string, more: object = {}) =>
  outgoing.request({ url: `http://${host}:${port}/first`, timeoutMsMax: 10_000, answerBytesMax: 1_000, ...more })

const kindOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'answered',
    error => (error instanceof OutgoingFailure ? error.kind : error),
  )

/** Redirects from path to path, then responds. */
function redirect(chain: Record<string, string>, status = 302): void {
  handler = (request, response) => {
    const location = chain[request.url!]
    if (location === undefined) response.end('end')
    else response.writeHead(status, { location }).end()
  }
}

describe('DNS rebinding', () => {
  test('a name is resolved once, and the checked address is the one that is connected', async () => {
    const outgoing = client({ 'rebind.test': [['127.0.0.1'], ['10.0.0.1']] })
    expect((await get(outgoing, 'rebind.test')).body.toString()).toBe('ok')
    expect([lookups, visits[0]!.headers.host]).toEqual([['rebind.test'], `rebind.test:${port}`])
  })

  test('a name that turns private is rejected at the next connection', async () => {
    handler = (_request, response) => response.writeHead(200, { connection: 'close' }).end('ok')
    const outgoing = client({ 'rebind.test': [['127.0.0.1'], ['10.0.0.1']] })
    expect(await kindOf(get(outgoing, 'rebind.test'))).toBe('answered')
    expect(await kindOf(get(outgoing, 'rebind.test'))).toBe('refused')
    expect(visits).toHaveLength(1)
  })

  test.each([[['10.0.0.1']], [['127.0.0.1', '10.0.0.1']], [['::1', '127.0.0.1']], [[]]])(
    'a name with the addresses %j is rejected without a connection',
    async addresses => {
      expect(await kindOf(get(client({ 'mixed.test': [addresses] }), 'mixed.test'))).not.toBe('answered')
      expect(visits).toEqual([])
    },
  )
})

describe('redirects', () => {
  const names = { 'a.test': [['127.0.0.1']], 'b.test': [['127.0.0.1']], 'private.test': [['192.168.0.1']] }

  test('a redirect to a private name or address is rejected, at the first hop and later', async () => {
    for (const target of [
      `http://private.test:${port}/x`,
      'http://10.0.0.1/x',
      'http://[::1]/x',
      'file:///etc/passwd',
    ]) {
      redirect({ '/first': target })
      expect(await kindOf(get(client(names), 'a.test'))).toBe('refused')
      redirect({ '/first': '/second', '/second': target })
      expect(await kindOf(get(client(names), 'a.test'))).toBe('refused')
    }
    expect(visits.map(visit => visit.path)).not.toContain('/x')
  })

  test('a redirect from a public server does not reach an origin that only the operator trusts', async () => {
    const trusted = `http://trusted.test:${port}`
    const zone = { ...names, 'trusted.test': [['192.168.0.2']] }
    redirect({ '/first': `${trusted}/x` })
    expect(await kindOf(get(client(zone, { trustedOrigins: [trusted] }), 'a.test'))).toBe('refused')
  })

  test('every hop is asked for permission', async () => {
    redirect({ '/first': `http://b.test:${port}/second` })
    const asked: string[] = []
    const mayVisit = (url: URL) => {
      asked.push(url.hostname)
      return url.hostname === 'a.test'
    }
    expect(await kindOf(get(client(names), 'a.test', { mayVisit }))).toBe('refused')
    expect(asked).toEqual(['a.test', 'b.test'])
    expect(visits).toHaveLength(1)
  })

  test('the number of redirects is bounded', async () => {
    redirect({ '/first': '/first' })
    expect(await kindOf(get(client(names), 'a.test', { redirectsMax: 3 }))).toBe('refused')
    expect(visits).toHaveLength(4)
  })

  test('credentials are not forwarded to another origin, in whatever header they are', async () => {
    const headers = {
      Authorization: 'Bearer secret',
      Cookie: 'a=secret',
      'X-Api-Key': 'secret',
      'Private-Token': 'secret',
      Accept: 'text/plain',
    }
    redirect({ '/first': '/second', '/second': `http://b.test:${port}/third` })
    const answer = await get(client(names), 'a.test', { headers })
    expect(answer).toMatchObject({ status: 200, url: `http://b.test:${port}/third` })
    expect(visits.map(visit => visit.headers['x-api-key'])).toEqual(['secret', 'secret', undefined])
    expect(visits[2]!.headers).toMatchObject({ accept: 'text/plain', host: `b.test:${port}` })
    expect(JSON.stringify(visits[2]!.headers)).not.toContain('secret')
  })

  test('a redirected POST becomes a GET without its body', async () => {
    redirect({ '/first': '/second' }, 303)
    await get(client(names), 'a.test', { method: 'POST', body: 'secret' })
    expect(visits.map(visit => visit.method)).toEqual(['POST', 'GET'])
    expect(visits[1]!.headers['content-length']).toBeUndefined()
  })
})
