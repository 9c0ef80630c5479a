import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { createMixedWrites, type Outcome } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { startServer } from './server-process.ts'

const rounds = Number(process.env.HALYARD_KILL_ROUNDS ?? 3)
const seed = Number(process.env.HALYARD_FAULT_SEED ?? Date.now() % 1_000_000)
const roundMillisecondsMax = 30_000
const fullCheckEveryRounds = 25

onEachDatabase('kill -9 at a random moment under mixed writes', dialect => {
  it(
    `loses no acknowledged write and leaves no partial write in ${rounds} rounds (seed ${seed})`,
    async () => {
      const random = seededRandom(seed)
      const database = await createTestDatabase(dialect)
      const load = createMixedWrites(random)
      let checked = 0
      try {
        for (let round = 1; round <= rounds; round++) {
          const server = await startServer(database.url)
          const stop = new AbortController()
          const writing = load.run(server.url, stop.signal).catch(() => {})
          const acknowledged = () => load.writes.filter(write => write.outcome === 'acknowledged').length
          const before = acknowledged()
          await expect.poll(acknowledged).toBeGreaterThan(before)
          // Killing at a random time after the first write is the point of the test.
          await wait(random() * 800)
          await server.kill()
          stop.abort()
          await writing
          if (round % fullCheckEveryRounds === 0 || round === rounds) {
            expect(await findFaults(database.url, load.writes), `after round ${round}`).toEqual([])
            checked += 1
          }
        }
        // A last start without manual repair finds everything unchanged.
        const server = await startServer(database.url)
        expect(await server.stop()).toBe(0)
        expect(await findFaults(database.url, load.writes)).toEqual([])
      } finally {
        const count = (outcome: Outcome) => load.writes.filter(write => write.outcome === outcome).length
        console.log(
          `${dialect}: ${rounds} kills, ${count('acknowledged')} acknowledged writes, ${count('unknown')} cut off, ` +
            `${count('refused')} rejected, ${checked} full comparisons`,
        )
        await database.drop()
      }
      expect(load.writes.some(write => write.outcome === 'acknowledged')).toBe(true)
    },
    rounds * roundMillisecondsMax + 60_000,
  )
})
