import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { freePort } from '../free-port.ts'
import { findFaults } from './consistency.ts'
import { addressesOf, createMixedWrites, type Write } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { launchServer, ownerKey, root, type ServerProcess, startServer } from './server-process.ts'
import { addressOf, startTcpProxy, through } from './tcp-proxy.ts'

const patience = { timeout: 25_000, interval: 50 }

const servingPids = (server: Pick<ServerProcess, 'lines'>): number[] =>
  server.lines
    .filter(line => line.includes('Halyard is serving'))
    .map(line => (JSON.parse(line) as { pid: number }).pid)

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

onEachDatabase('several workers on one machine', dialect => {
  it('share one database and port, replace a killed worker, lose no write and stop together', async () => {
    const database = await createTestDatabase(dialect, 'empty')
    const server = await startServer(database.url, { HALYARD_WORKERS: '3', HALYARD_BOOTSTRAP_KEY: ownerKey })
    let writes: readonly Write[] = []
    try {
      await vi.waitFor(() => expect(servingPids(server)).toHaveLength(3), patience)
      expect(server.lines.filter(line => line.includes('created the first organization'))).toHaveLength(1)

      const load = createMixedWrites(seededRandom(7))
      const stop = new AbortController()
      const writing = load.run(server.url, stop.signal).catch(() => {})
      await vi.waitFor(() => expect(load.writes.length).toBeGreaterThan(10), patience)
      const [victim] = servingPids(server)
      process.kill(victim!, 'SIGKILL')
      await vi.waitFor(() => expect(servingPids(server)).toHaveLength(4), patience)
      expect(isAlive(victim!)).toBe(false)
      stop.abort()
      await writing
      writes = load.writes

      const { project } = await addressesOf(server.url)
      const headers = { authorization: `Bearer ${ownerKey}`, connection: 'close' }
      const created = await fetch(`${server.url}${project}/feature_flags/`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ key: 'seen-by-all' }),
      })
      expect(created.status).toBe(201)
      const { id } = (await created.json()) as { id: number }
      for (let n = 0; n < 9; n++) {
        const reply = await fetch(`${server.url}${project}/feature_flags/${id}/`, { headers })
        expect(reply.status).toBe(200)
        await reply.text()
      }
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^halyard_http_requests_in_flight \d+$/m)
    } finally {
      expect(await server.stop(), server.lines.slice(-20).join('\n')).toBe(0)
    }
    expect(servingPids(server).filter(isAlive)).toEqual([])
    expect(await findFaults(database.url, writes)).toEqual([])
    await database.drop()
  }, 240_000)
})

it('connections are served by the other workers while one of them hangs', async () => {
  const database = await createTestDatabase('sqlite')
  const server = await startServer(database.url, { HALYARD_WORKERS: '3' })
  try {
    await expect.poll(() => servingPids(server)).toHaveLength(3)
    const [victim] = servingPids(server)
    process.kill(victim!, 'SIGSTOP')
    const responses = await Promise.all(Array.from({ length: 6 }, () => untilEnd(server.url)))
    expect(responses.filter(text => text.startsWith('HTTP/1.1 200'))).toHaveLength(6)
    process.kill(victim!, 'SIGKILL')
  } finally {
    expect(await server.stop()).toBe(0)
    await database.drop()
  }
}, 240_000)

it('a first worker that is killed before it serves is replaced like any other', async () => {
  const database = await createTestDatabase('sqlite', 'empty')
  const launched = launchServer(database.url, { HALYARD_WORKERS: '2' })
  const starting = () => launched.lines.find(line => line.includes('worker_started'))
  await expect.poll(starting).toBeDefined()
  process.kill((JSON.parse(starting()!) as { worker: number }).worker, 'SIGKILL')
  await launched.serving
  expect(await launched.stop()).toBe(0)
  await database.drop()
}, 240_000)

it('while PostgreSQL is unavailable, replacement workers respond until they can serve', async () => {
  const database = await createTestDatabase('postgres')
  const proxy = await startTcpProxy(addressOf(database.url))
  const url = `http://127.0.0.1:${await freePort()}`
  const server = launchServer(through(proxy, database.url), { HALYARD_WORKERS: '2', PORT: new URL(url).port })
  const statusOf = (path: string) => fetch(url + path, { headers: { connection: 'close' } }).then(r => r.status, String)
  try {
    await expect.poll(() => servingPids(server)).toHaveLength(2)
    proxy.refuse()
    const [first, second] = servingPids(server)
    process.kill(first!, 'SIGKILL')
    await expect.poll(() => startsOf(server)).toHaveLength(3)
    // The remaining worker serves from memory; the waiting one does not interfere.
    for (let n = 0; n < 6; n++) expect(await statusOf('/_livez')).toBe(200)
    process.kill(second!, 'SIGKILL')
    await expect.poll(() => statusOf('/_livez')).toBe(200)
    await expect.poll(() => statusOf('/_readyz')).toBe(503)
    proxy.admit()
    await expect.poll(() => servingPids(server)).toHaveLength(4)
    await expect.poll(() => statusOf('/_readyz')).toBe(200)
  } finally {
    proxy.admit()
    expect(await server.stop(), server.lines.slice(-20).join('\n')).toBe(0)
    await proxy.close()
    await database.drop()
  }
}, 240_000)

const startsOf = (server: Pick<ServerProcess, 'lines'>): string[] =>
  server.lines.filter(line => line.includes('worker_started'))

it('workers count wrong passwords together', async () => {
  const database = await createTestDatabase('sqlite')
  const server = await startServer(database.url, { HALYARD_WORKERS: '3' })
  try {
    await expect.poll(() => servingPids(server)).toHaveLength(3)
    const statuses: number[] = []
    const guess = async () => {
      const body = JSON.stringify({ email: 'owner@halyard.local', password: 'wrong' })
      const headers = { 'content-type': 'application/json', connection: 'close' }
      const reply = await fetch(`${server.url}/api/login/`, { method: 'POST', headers, body })
      await reply.text()
      statuses.push(reply.status)
    }
    // Connections are distributed round-robin: six requests reach each worker twice.
    const areAllStopped = () => statuses.slice(-6).every(status => status === 429) && statuses.length >= 6
    while (!areAllStopped()) await guess()
    // With separate counters, each worker would have allowed five guesses.
    expect(statuses.filter(status => status === 401).length).toBeLessThan(15)
  } finally {
    expect(await server.stop()).toBe(0)
    await database.drop()
  }
}, 240_000)

/** The response to one request on a new connection; empty when the connection is closed without one. */
const untilEnd = (url: string): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('data', part => {
      text += part
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.write('GET /_livez HTTP/1.1\r\nHost: halyard\r\nConnection: close\r\n\r\n')
  })

it('a supervisor whose first worker cannot start prints the reason and exits', async () => {
  await expect(startServer(`sqlite:${root}/package.json/halyard.db`, { HALYARD_WORKERS: '2' })).rejects.toThrow(
    /exited with 1 [\s\S]*cannot be opened/,
  )
})
