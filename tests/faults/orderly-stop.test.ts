import { copyFileSync, existsSync, statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { createMixedWrites } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { startServer } from './server-process.ts'

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
