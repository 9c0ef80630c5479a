import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { framesOf } from '../../packages/server/src/api/edge/edge-feed.ts'
import { documentOf, type ProjectState, projectState } from '../../packages/server/src/api/edge/project-state.ts'
import { frameOf } from '../../packages/server/src/http/routes/event-streams.ts'
import {
  flagsAt,
  newEdgeFolder,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'

const uuid = '01890000-0000-7000-8000-000000000000'
const token = 'phc_hostileupstream'
const project = {
  id: 1,
  uuid,
  organizationId: 'o',
  name: 'Project',
  apiToken: token,
  timezone: 'UTC',
  groupTypes: {},
  propertyMatchingVersion: 2,
  hasPersons: false,
}
const flag = { id: 1, projectId: 1, key: 'first', filters: { groups: [{ properties: [] }] }, active: true, version: 1 }

function stateOf(documents: Readonly<Record<string, unknown>>): ProjectState {
  const entries = Object.entries(documents).map(([name, value]) => [name, documentOf(name, JSON.stringify(value))])
  return projectState(uuid, new Map(entries as [string, ReturnType<typeof documentOf>][]))
}
const good = stateOf({ project, 'flag/1': flag })
const current = frameOf({ event: 'current', data: '{"projects":1}' })
const projectFrame = (fields: object) =>
  frameOf({ event: 'project', data: JSON.stringify({ project: uuid, ...fields }) })
const stateBytesMax = 200_000

type Behavior = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

/** Starts as a follower expects it, so that the edge reconnects soon. */
const after =
  (hostile: (response: ServerResponse) => void | Promise<void>): Behavior =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(current)
    return hostile(response)
  }
const sends = (...frames: readonly string[]) => after(response => void response.write(frames.join('')))

/** Writes without end, as fast as the edge reads, until the edge closes the connection. Counts the bytes. */
let written = 0
const endlessly = async (response: ServerResponse, chunk: () => string) => {
  written = 0
  const closed = once(response, 'close')
  while (!response.destroyed) {
    const text = chunk()
    written += text.length
    if (!response.write(text)) await Promise.race([once(response, 'drain'), closed])
  }
}

let upstream: Server
let elsewhere: Server
let requestsElsewhere = 0
let edge: RunningEdge
let folder: string
let behavior: Behavior
/** Takes batches of events. */
let receive: Behavior = (response, request) => {
  request.resume()
  response.writeHead(200).end('{"refused":[]}')
}
/** Resolves when the edge has left the connection that the current behavior answered. */
let left: Promise<unknown> | undefined

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const listen = (server: Server) => once(server.listen(0, '127.0.0.1'), 'listening')
const serveGood = after(response => void response.write([...framesOf(undefined, good, 1e6)].join('').concat(current)))

beforeAll(async () => {
  behavior = serveGood
  upstream = createServer((request, response) => {
    response.on('error', () => {})
    if (request.url !== '/api/edge/stream/') return void receive(response, request)
    request.resume()
    left = once(response, 'close')
    void behavior(response, request)
  })
  elsewhere = createServer((_request, response) => {
    requestsElsewhere += 1
    response.end()
  })
  await Promise.all([listen(upstream), listen(elsewhere)])
  folder = await newEdgeFolder()
  edge = await open()
  await edge.edge.following.firstAttempt
  await vi.waitUntil(() => edge.edge.replica.stateOf(uuid)?.digest === good.digest)
}, 60_000)
afterAll(async () => {
  await edge.close()
  for (const server of [upstream, elsewhere]) {
    server.closeAllConnections()
    server.close()
  }
  await removeEdgeFolder(folder)
})

const open = () =>
  startEdge(urlOf(upstream), 'phx_edgeedgeedgeedgeedge', {
    folder,
    environment: { HALYARD_EDGE_STATE_BYTES_MAX: String(stateBytesMax) },
  })

/** The edge connects, meets the behavior, and leaves. */
async function meet(hostile: Behavior): Promise<void> {
  const met = new Promise<Promise<unknown>>(resolve => {
    behavior = (response, request) => {
      behavior = serveGood
      resolve(left!)
      return hostile(response, request)
    }
  })
  upstream.closeAllConnections()
  await await met
}

const expectGood = async () => {
  expect(await flagsAt(edge, { token, distinct_id: 'user' })).toMatchObject({ flags: { first: { enabled: true } } })
  expect((await edge.get('/_livez')).status).toBe(200)
  expect((await edge.get('/_readyz')).status).toBe(200)
}

const poisoned = (documents: Readonly<Record<string, unknown>>): string =>
  [...framesOf(good, stateOf({ project, 'flag/1': flag, ...documents }), 1e6)].join('')
const off = { ...flag, active: false }

const attacks: Readonly<Record<string, Behavior>> = {
  'a wrong digest': sends(projectFrame({ from: good.digest, set: [['flag/1', JSON.stringify(off)]], digest: '2-x' })),
  'a change of a state that the edge does not have': sends(projectFrame({ from: '9-x', set: [], digest: '9-x' })),
  'the end of a state without its beginning': sends(projectFrame({ set: [], digest: good.digest })),
  'data that is no JSON': sends(frameOf({ event: 'project', data: '{"project":' })),
  'a frame of another shape': sends(projectFrame({ from: null, set: { length: 1e9 }, digest: '0-' })),
  'a removal of another shape': sends(
    frameOf({ event: 'gone', data: 'null' }),
    frameOf({ event: 'project', data: '5' }),
  ),
  'a flag that is no flag': sends(poisoned({ 'flag/1': null })),
  'a key that is no key': sends(poisoned({ 'key/1': 5 })),
  'the document of another project': sends(
    poisoned({ project: { ...project, uuid: '01890000-0000-7000-8000-000000000001' } }),
  ),
  'a state without its project': sends(
    projectFrame({ from: good.digest, removed: ['project'], set: [], digest: stateOf({ 'flag/1': flag }).digest }),
  ),
  'a connection that breaks within a frame': after(async response => {
    response.write(poisoned({ 'flag/1': off }).slice(0, -40))
    response.destroy()
  }),
  'a state without end': after(response => {
    let n = 0
    return endlessly(response, () => {
      const set = Array.from({ length: 500 }, () => [`x${n++}`, ''])
      return projectFrame(n === 500 ? { from: null, set } : { set })
    })
  }),
  'a frame without end': after(response => {
    const chunk = 'x'.repeat(1024 * 1024)
    return endlessly(response, () => chunk)
  }),
  'an error without end': response => {
    response.writeHead(500)
    const chunk = 'x'.repeat(64 * 1024)
    return endlessly(response, () => chunk)
  },
  'a page of a proxy': response => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\n\n'),
  'the refusal of a firewall': response => void response.writeHead(403).end('<html>Blocked</html>'),
  'a redirection': response => void response.writeHead(307, { location: `${urlOf(elsewhere)}/api/edge/stream/` }).end(),
}

it.each(Object.entries(attacks))(
  'keeps the last good state and stays up when its upstream sends %s',
  async (name, attack) => {
    await meet(attack)
    await expectGood()
    expect(edge.edge.replica.stateOf(uuid)?.digest).toBe(good.digest)
    expect(edge.edge.replica.bytes).toBeLessThanOrEqual(stateBytesMax)
    // What was read before the edge left, with the buffers of two sockets.
    if (name.endsWith('without end')) expect(written).toBeLessThan(100 * 1024 * 1024)
    await expect.poll(() => edge.edge.following.connection, { timeout: 20_000 }).toBe('following')
  },
  60_000,
)

it('leaves time between two connections, also when its upstream asks for none', async () => {
  const connectedAt: number[] = []
  await meet(async response => {
    const again: Behavior = next => {
      connectedAt.push(Date.now())
      behavior = connectedAt.length < 4 ? again : serveGood
      next.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
    }
    await again(response, response.req)
  })
  await expect.poll(() => connectedAt.length, { timeout: 20_000 }).toBe(4)
  // Three pauses of at least half of the back-off, which doubles.
  expect(connectedAt[3]! - connectedAt[0]!).toBeGreaterThan(125 + 250 + 500 - 50)
  await expect.poll(() => edge.edge.following.connection, { timeout: 20_000 }).toBe('following')
})

it('keeps events until its upstream has taken them, whatever else answers in its place', async () => {
  const answers: ((response: ServerResponse) => void)[] = [
    response => response.writeHead(302, { location: urlOf(elsewhere) }).end(),
    response => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not found</html>'),
    response => response.writeHead(400).end('Bad request'),
    response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  ]
  const taken: string[] = []
  receive = async (response, request) => {
    const answer = answers.shift()
    if (answer) return answer(response)
    taken.push(await text(request))
    response.writeHead(200).end('{"received":1,"refused":[]}')
  }
  const sent = await edge.post('/batch/', { api_key: token, batch: [{ event: 'paid', distinct_id: 'user' }] })
  expect(sent.status).toBe(200)
  await expect.poll(() => taken.join(), { timeout: 20_000 }).toContain('"paid"')
})

it('sends its key to no other server', () => {
  expect(requestsElsewhere).toBe(0)
})

it('starts from the last good state on disk after all of this', async () => {
  await edge.close()
  behavior = response => void response.writeHead(503).end('no')
  edge = await open()
  await expectGood()
})
