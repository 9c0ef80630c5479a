import { expect, it, vi } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { addressesOf, createMixedWrites, type Write } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { ownerKey, root, type ServerProcess, startServer } from './server-process.ts'

const patience = { timeout: 25_000, interval: 50 }

const servingPids = (server: ServerProcess): number[] =>
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
  it('serve one database from one port, replace one that is killed, lose nothing and stop together', async () => {
    const database = await createTestDatabase(dialect, 'empty')
    const server = await startServer(database.url, { HALYARD_WORKERS: '3', HALYARD_BOOTSTRAP_KEY: ownerKey })
    let writes: readonly Write[] = []
    try {
      await vi.waitFor(() => expect(servingPids(server)).toHaveLength(3), patience)
      expect(server.lines.filter(line => line.includes('Welcome to Halyard'))).toHaveLength(1)

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
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/halyard_requests_in_flight\{worker="\d+"\}/)
    } finally {
      expect(await server.stop(), server.lines.slice(-20).join('\n')).toBe(0)
    }
    expect(servingPids(server).filter(isAlive)).toEqual([])
    expect(await findFaults(database.url, writes)).toEqual([])
    await database.drop()
  }, 90_000)
})

it('a supervisor whose first worker cannot start says why and ends', async () => {
  await expect(startServer(`sqlite:${root}/package.json/halyard.db`, { HALYARD_WORKERS: '2' })).rejects.toThrow(
    /ended with 1 [\s\S]*cannot be opened/,
  )
})
