import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { openStream } from '../../packages/server/src/testing/event-source.ts'
import { clientOf } from '../../packages/server/src/testing/scenario.ts'
import { addressesOf } from '../faults/mixed-writes.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'
import { percentile, riseOf } from './flatness.ts'

/** `npm run test:load` sets it. A leak shows after minutes only, so a short run would prove nothing. */
const seconds = Number(process.env.HALYARD_LONG_RUN_SECONDS ?? 0)
const stepsPerSecond = Number(process.env.HALYARD_LONG_RUN_RATE ?? 25)
const samplesCount = Math.min(180, Math.max(6, Math.floor(seconds / 10)))
const refusedShareMax = 0.01
const inFlightMax = 50
const followersCount = 5
/** Connections that a pool opens on demand and retains. */
const handlesKeptMax = 16
const mebibyte = 1024 ** 2

interface Figures {
  readonly heapBytes: number
  readonly residentBytes: number
  readonly handles: number
}

const preload = fileURLToPath(new URL('report-on-signal.cjs', import.meta.url))

/** Memory and handles of the server after a garbage collection. */
async function figuresOf(server: ServerProcess): Promise<Figures> {
  const last = () => server.lines.findLast(line => line.startsWith('{"figures":'))
  const before = last()
  server.signal('SIGUSR2')
  await expect.poll(last).not.toBe(before)
  return JSON.parse(last()!).figures
}

const pluginCode = `
  export const processEvent = event => ({ ...event, properties: { ...event.properties, seen: true } })
  export const onEvent = async (event, { storage }) => storage.set('last', event.event)
  export const onFlagChange = async (change, { storage }) => storage.set('changed', JSON.stringify(change).length)
  export const runEveryMinute = async ({ storage }) => storage.set('minute', Date.now())
`

onEachDatabase('a long run', dialect => {
  it.runIf(seconds > 0)(
    `of ${seconds} seconds with changes, streams, events and a plugin leaks no memory or handles`,
    async () => {
      const database = await createTestDatabase(dialect)
      const server = await startServer(database.url, {
        NODE_OPTIONS: `--require=${preload}`,
        // Lag of a busy machine is not the subject of this test.
        HALYARD_LAG_MILLISECONDS_MAX: '0',
      })
      const stop = new AbortController()
      try {
        const owner = clientOf(server.url, ownerKey)
        const { project, organization, token } = await addressesOf(server.url)
        const flags: number[] = []
        for (let n = 0; n < 10; n += 1) {
          flags.push((await owner.post(`${project}/feature_flags/`, { key: `steady-${n}` })).body.id)
        }
        const plugin = (await owner.post(`${organization}/plugins/`, { plugin_type: 'source', name: 'Witness' })).body
        const written = await owner.patch(`${organization}/plugins/${plugin.id}/update_source/`, {
          'index.ts': pluginCode,
        })
        expect(written.status).toBe(200)
        const enabled = await owner.post(`${project}/plugin_configs/`, { plugin: plugin.id, enabled: true })
        expect(enabled.status).toBe(201)
        const before = await figuresOf(server)

        const statuses = new Map<string, number>()
        let delays: number[] = []
        let events = 0
        const count = (what: string, status: number) =>
          statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1)
        const streamPath = `${project}/feature_flags/stream`
        const follow = () => openStream(server.url + streamPath, { authorization: `Bearer ${ownerKey}` })
        const person = (n: number) => `person-${n % 1000}`
        const visitor = clientOf(server.url, undefined)

        const steps: readonly ((n: number) => Promise<void>)[] = [
          async n => {
            const start = performance.now()
            const reply = await visitor.post('/flags/?v=2', { token, distinct_id: person(n) })
            delays.push(performance.now() - start)
            count('evaluation', reply.status)
          },
          async n => {
            const rollout = { groups: [{ properties: [], rollout_percentage: n % 101 }] }
            const reply = await owner.patch(`${project}/feature_flags/${flags[n % 10]}/`, { filters: rollout })
            count('change', reply.status)
          },
          async n => {
            const batch = [{ event: 'step', distinct_id: person(n), properties: { $set: { n: n % 7 } } }]
            count('events', (await visitor.post('/batch/', { api_key: token, batch })).status)
          },
          async () => void count('definitions', (await owner.get(`/flags/definitions?token=${token}`)).status),
          async () => {
            const stream = await follow()
            await stream.next()
            stream.close()
            count('stream', stream.status)
          },
          async () => void count('list', (await owner.get(`${project}/feature_flags/`)).status),
        ]

        const followers = await Promise.all(Array.from({ length: followersCount }, follow))
        const following = followers.map(async stream => {
          while (await stream.next()) events += 1
        })
        const inFlight = new Set<Promise<void>>()
        const failures: unknown[] = []
        let n = 0
        const pace = setInterval(() => {
          // Twice as many evaluations as other requests.
          const step = n % 2 === 0 ? steps[0] : steps[((n - 1) / 2) % steps.length]
          if (inFlight.size >= inFlightMax || !step) return
          n += 1
          const done = step(n)
            .catch(error => void failures.push(error))
            .finally(() => inFlight.delete(done))
          inFlight.add(done)
        }, 1000 / stepsPerSecond)
        stop.signal.addEventListener('abort', () => clearInterval(pace))

        const samples: (Figures & { readonly median: number })[] = []
        for (let sample = 0; sample < samplesCount; sample += 1) {
          // The duration of the load is the point of the test.
          await new Promise(resolve => setTimeout(resolve, (seconds * 1000) / samplesCount))
          const figures = await figuresOf(server)
          samples.push({ ...figures, median: percentile(delays, 0.5) })
          delays = []
        }
        stop.abort()
        await Promise.all(inFlight)
        for (const stream of followers) stream.close()
        await Promise.all(following)

        const refusedCount = () =>
          [...statuses].reduce((sum, [key, times]) => sum + (key.endsWith(' 503') ? times : 0), 0)
        const rises = {
          heap: riseOf(samples.map(({ heapBytes }) => heapBytes / mebibyte)),
          resident: riseOf(samples.map(({ residentBytes }) => residentBytes / mebibyte)),
          handles: riseOf(samples.map(({ handles }) => handles)),
          median: riseOf(samples.map(({ median }) => median)),
        }
        const summary = Object.entries(rises).map(([name, { level, rise }]) => `${name} ${show(level)} (${show(rise)})`)
        console.log(
          `${dialect}: ${n} steps in ${seconds} s, ${refusedCount()} of them rejected with 503, ${events} events on ${followersCount} streams, ${samples.length} samples; ` +
            `level and rise over the last two thirds, MiB and ms: ${summary.join(', ')}`,
        )
        expect(failures).toEqual([])
        expect([...statuses.keys()].filter(key => !/ (20\d|503)$/.test(key))).toEqual([])
        expect(refusedCount() / n).toBeLessThan(refusedShareMax)
        expect([...statuses.keys()].filter(key => !key.endsWith('503'))).toHaveLength(steps.length)
        expect(rises.heap.rise).toBeLessThan(Math.max(8, rises.heap.level * 0.1))
        expect(rises.resident.rise).toBeLessThan(Math.max(32, rises.resident.level * 0.15))
        expect(rises.handles.rise).toBeLessThan(5)
        expect(rises.median.rise).toBeLessThan(Math.max(20, rises.median.level))
        // Handles opened for the load are released afterwards, the last client connections after their idle timeout.
        await expect
          .poll(async () => (await figuresOf(server)).handles, { timeout: 100_000 })
          .toBeLessThanOrEqual(before.handles + handlesKeptMax)
      } finally {
        stop.abort()
        expect(await server.stop()).toBe(0)
        await database.drop()
      }
    },
    seconds * 1000 + 240_000,
  )
})

const show = (number: number): string => number.toFixed(1)
