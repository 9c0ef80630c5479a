import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectUpstream } from './upstream.ts'

type Behavior = (response: ServerResponse) => void

let behavior: Behavior
const server = createServer((request, response) => {
  request.resume()
  behavior(response)
})
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const connect = (frameMillisecondsMax?: number) =>
  connectUpstream({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: 'phx_edge',
    ...(frameMillisecondsMax && { frameMillisecondsMax }),
  })
const follow = async (upstream = connect()): Promise<unknown> => {
  for await (const _frame of upstream.follow({}, new AbortController().signal));
  return 'the stream ended'
}
const answers =
  (status: number, body: string, type = 'application/json; charset=utf-8', headers: object = {}): Behavior =>
  response =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(body)

const problem = JSON.stringify({ type: 'x', code: 'some_code', detail: 'What is wrong.', attr: null })
const page = '<html>Sign in</html>'

describe('the stream of an upstream', () => {
  it.each([
    [
      'a page',
      answers(200, page, 'text/html'),
      'rejected',
      'answered 200: this does not look like Halyard (text/html)',
    ],
    ['other JSON', answers(200, '{}'), 'rejected', 'this does not look like Halyard'],
    ['a refusal of Halyard', answers(403, problem), 'refused', 'answered 403: What is wrong.'],
    ['a wrong key', answers(401, problem), 'refused', 'answered 401: What is wrong.'],
    [
      'a wrong key, behind a proxy',
      answers(401, page, 'text/html', { 'www-authenticate': 'Bearer' }),
      'refused',
      '401',
    ],
    ['a refusal of a firewall', answers(403, page, 'text/html'), 'rejected', 'not look like Halyard (text/html)'],
    ['a request to sign in', answers(401, '{"error":"login"}'), 'rejected', 'not look like Halyard'],
    ['a redirection', answers(302, '', 'text/html', { location: '/login' }), 'rejected', 'answered 302'],
    ['an error', answers(503, '{"message":5}', 'text/plain', { 'retry-after': '99999999999' }), 'away', 'answered 503'],
  ])('that sends %s is not followed, for the right reason', async (_what, sent, kind, message) => {
    behavior = sent
    await expect(follow()).rejects.toMatchObject({ kind, message: expect.stringContaining(message) })
  })

  it('that trickles without ever completing a message is left', async () => {
    behavior = response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': still here\n\ndata: ')
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    }
    const error = { kind: 'away', message: expect.stringContaining('a message took too long') }
    await expect(follow(connect(200))).rejects.toMatchObject(error)
  })
})

describe('a look-up', () => {
  const question = {
    project: '01890000-0000-7000-8000-000000000000',
    distinct_id: 'user',
    person_properties: true,
    groups: [],
    static_cohorts: [7],
    continuity_flags: [],
  }
  const unknown = { person_properties: null, group_properties: {}, static_cohorts: [], hash_keys: {} }

  it.each([
    '{}',
    'null',
    '[]',
    '"ok"',
    JSON.stringify({ ...unknown, static_cohorts: 7 }),
    JSON.stringify({ ...unknown, static_cohorts: ['7'] }),
    JSON.stringify({ ...unknown, person_properties: 'pro' }),
    JSON.stringify({ ...unknown, hash_keys: { first: 5 } }),
    '['.repeat(1_000_000),
  ])('answered with %.60s fails instead of finding no one', async text => {
    behavior = answers(200, text)
    await expect(connect().findSubject(question)).rejects.toMatchObject({ kind: 'away' })
  })

  it('is answered by what the upstream has stored', async () => {
    behavior = answers(200, JSON.stringify(unknown))
    expect(await connect().findSubject(question)).toEqual(unknown)
  })
})

describe('a batch of events', () => {
  const send = () => connect().send(['{}'], new AbortController().signal)

  it.each([
    ['a redirection', answers(302, '', 'text/html', { location: '/login' }), false],
    ['a wrong path', answers(404, page, 'text/html'), false],
    ['an upstream without this route', answers(404, problem), false],
    ['a firewall', answers(403, page, 'text/html'), false],
    ['a proxy that does not understand it', answers(400, page, 'text/html'), false],
    ['a page', answers(200, page, 'text/html'), false],
    ['a receipt of more than was sent', answers(200, '{"refused":["a","b"]}'), undefined],
    ['an upstream that finds it invalid', answers(400, problem), true],
    ['a limit on the size', answers(413, page, 'text/html'), true],
  ])('is given up only for what is wrong with it: %s', async (_what, sent, isFinal) => {
    behavior = sent
    await expect(send()).rejects.toMatchObject({ isFinal: isFinal ?? false })
  })
})
