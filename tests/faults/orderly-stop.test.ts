import { copyFileSync, existsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { createMixedWrites } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { ownerKey, type ServerProcess, startServer } from './server-process.ts'

const connectionsOfAKind = 20

onEachDatabase('a server that is stopped', dialect => {
  it.each([
    { workers: '1', isLoaded: false },
    { workers: '2', isLoaded: false },
    { workers: '1', isLoaded: true },
    { workers: '2', isLoaded: true },
  ])('($workers workers, under load: $isLoaded) responds to all that was sent before the signal', async testCase => {
    const database = await createTestDatabase(dialect)
    // A busy machine must not trigger load shedding.
    const environment = { HALYARD_WORKERS: testCase.workers, HALYARD_LAG_MILLISECONDS_MAX: '0' }
    const server = await startServer(database.url, environment)
    const load = createMixedWrites(seededRandom(3))
    const stop = new AbortController()
    let loading: Promise<unknown> | undefined
    try {
      const requests = await requestsOfClients(server)
      const kept = await Promise.all(requests.map(({ text }) => openConnection(server, text)))
      const expected = requests.map(({ status }) => status)
      expect(await receiveAll(kept)).toEqual(expected)
      if (testCase.isLoaded) {
        loading = load.run(server.url, stop.signal)
        await expect
          .poll(() => load.writes.filter(write => write.outcome === 'acknowledged').length)
          .toBeGreaterThan(20)
      }
      // New connections may still be in the backlog of the port when the signal arrives.
      const fresh = requests.map(({ text }) => openConnection(server, text))
      await Promise.all(kept.map((connection, n) => connection.send(requests[n]!.text)))
      const opened = await Promise.all(fresh)
      const ended = server.stop()
      expect(await receiveAll(kept)).toEqual(expected)
      expect(await receiveAll(opened)).toEqual(expected)
      // Then each connection is ended, not reset.
      expect(await receiveAll([...kept, ...opened])).toEqual([...expected, ...expected].map(() => 'closed'))
      expect(await ended).toBe(0)
    } finally {
      stop.abort()
      await loading
      await server.stop()
      await database.drop()
    }
  })
})

it.each(['1', '2'])(
  'a server with %s workers that is stopped under load leaves all data in the SQLite file, without a WAL',
  async workers => {
    const database = await createTestDatabase('sqlite')
    const path = database.url.slice('sqlite:'.length)
    const server = await startServer(database.url, { HALYARD_WORKERS: workers })
    const load = createMixedWrites(seededRandom(3))
    const stop = new AbortController()
    try {
      const writing = load.run(server.url, stop.signal)
      await expect.poll(() => load.writes.filter(write => write.outcome === 'acknowledged').length).toBeGreaterThan(20)
      // Clients continue to send requests while it stops.
      expect(await server.stop()).toBe(0)
      stop.abort()
      await writing
      const log = `${path}-wal`
      expect(existsSync(log) ? statSync(log).size : 0).toBe(0)
      // Copies only the main file, as an uninformed operator would.
      copyFileSync(path, `${path}.copy`)
      expect(await findFaults(`sqlite:${path}.copy`, load.writes)).toEqual([])
    } finally {
      stop.abort()
      await server.stop()
      await database.drop()
    }
  },
)

/** Evaluations, reads and writes of the API, and events, each as the text of its HTTP request. */
async function requestsOfClients({ url }: ServerProcess) {
  const headers = { authorization: `Bearer ${ownerKey}` }
  const { results } = (await (await fetch(`${url}/api/projects/`, { headers })).json()) as {
    results: { id: number; api_token: string }[]
  }
  const { id, api_token: token } = results[0]!
  const flags = `/api/projects/${id}/feature_flags/`
  return Array.from({ length: connectionsOfAKind }, (_, n) => [
    { status: 200, text: post('/flags/?v=2', { token, distinct_id: `user-${n}` }) },
    { status: 200, text: request('GET', flags) },
    { status: 201, text: post('/api/projects/', { name: `Project ${n}` }) },
    { status: 200, text: post('/batch/', { api_key: token, batch: [{ event: 'seen', distinct_id: `user-${n}` }] }) },
  ]).flat()
}

const post = (path: string, body: object): string => request('POST', path, JSON.stringify(body))

function request(method: string, path: string, body = ''): string {
  const headers = ['host: localhost', `authorization: Bearer ${ownerKey}`, 'content-type: application/json']
  return [`${method} ${path} HTTP/1.1`, ...headers, `content-length: ${body.length}`, '', body].join('\r\n')
}

interface Connection {
  /** Resolves when the operating system has the request. */
  send(text: string): Promise<void>
  /** The status of the next response, or why there is none. */
  receive(): Promise<number | string>
}

/** Connects and sends the first request. */
async function openConnection({ url }: ServerProcess, text: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  let received = ''
  let failure: string | undefined
  socket.on('data', (chunk: unknown) => {
    received += chunk
    socket.emit('progress')
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code
  })
  socket.on('close', () => {
    failure ??= 'closed'
    socket.emit('progress')
  })
  const connection: Connection = {
    send: text => new Promise(resolve => socket.write(text, () => resolve())),
    async receive() {
      for (;;) {
        const response = firstResponse(received)
        received = response?.rest ?? received
        if (response) return response.status
        if (failure !== undefined) return failure
        // `once` of node:events would reject with an error of the socket, which `failure` reports.
        await new Promise(resolve => socket.once('progress', resolve))
      }
    },
  }
  await connection.send(text)
  return connection
}

function firstResponse(text: string): { readonly status: number; readonly rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, Math.max(0, end)).toLowerCase()
  const to = end + 4 + Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1])
  if (end < 0 || text.length < to) return undefined
  return { status: Number(head.split(' ')[1]), rest: text.slice(to) }
}

const receiveAll = (connections: readonly Connection[]) => Promise.all(connections.map(each => each.receive()))
