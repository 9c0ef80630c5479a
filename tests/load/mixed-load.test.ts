import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from '../faults/consistency.ts'
import { addressesOf, createMixedWrites } from '../faults/mixed-writes.ts'
import { seededRandom } from '../faults/random.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'

const seconds = Number(process.env.HALYARD_LOAD_SECONDS ?? 3)
const askersCount = 8
/** Garbage is collected on demand, so bounded growth is not a leak. */
const growthBytesMax = 150 * 1024 * 1024

async function metric(server: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)`, 'm').exec(text)?.[1])
}

onEachDatabase('evaluation under changes', dialect => {
  it(
    `responds to every request for ${seconds} seconds of mixed load without leaking memory`,
    async () => {
      const database = await createTestDatabase(dialect)
      const server = await startServer(database.url, { LOG_LEVEL: 'info', HALYARD_LAG_MILLISECONDS_MAX: '0' })
      const load = createMixedWrites(seededRandom(1))
      const stop = new AbortController()
      const headers = { authorization: `Bearer ${ownerKey}` }
      try {
        const { project } = await addressesOf(server.url)
        const { api_token } = (await (await fetch(`${server.url}${project}/`, { headers })).json()) as {
          api_token: string
        }
        const writing = load.run(server.url, stop.signal)
        const statuses = new Map<number, number>()
        const delays: number[] = []
        const asker = async () => {
          while (!stop.signal.aborted) {
            const start = performance.now()
            const reply = await fetch(`${server.url}/flags/?v=2`, {
              method: 'POST',
              body: JSON.stringify({ token: api_token, distinct_id: `person-${Math.floor(start) % 1000}` }),
            })
            await reply.arrayBuffer()
            delays.push(performance.now() - start)
            statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
          }
        }
        const asking = Array.from({ length: askersCount }, asker)
        const samples: number[] = []
        // The duration of the load is the point of the test.
        await new Promise<void>(resolve => {
          const sampling = setInterval(
            async () => samples.push(await metric(server, 'process_resident_memory_bytes')),
            1000,
          )
          setTimeout(() => {
            clearInterval(sampling)
            resolve()
          }, seconds * 1000)
        })
        stop.abort()
        await Promise.all([...asking, writing])

        const sorted = delays.sort((a, b) => a - b)
        const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1)
        const [early = 0, late = 0] = [samples[Math.floor(samples.length / 4)], samples.at(-1)]
        console.log(
          `${dialect}: ${delays.length} evaluations (p50 ${at(0.5)} ms, p99 ${at(0.99)} ms) during ${load.writes.length} writes in ${seconds} s; ` +
            `memory ${Math.round(early / 1024 ** 2)} → ${Math.round(late / 1024 ** 2)} MiB`,
        )
        expect([...statuses.keys()]).toEqual([200])
        expect(load.writes.every(write => write.outcome !== 'unknown')).toBe(true)
        expect(late - early).toBeLessThan(growthBytesMax)
        expect(await metric(server, 'halyard_http_requests_in_flight')).toBe(0)
      } finally {
        stop.abort()
        expect(await server.stop()).toBe(0)
      }
      expect(await findFaults(database.url, load.writes)).toEqual([])
      await database.drop()
    },
    seconds * 1000 + 120_000,
  )
})
