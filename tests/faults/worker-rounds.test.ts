import pg from 'pg'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { createMixedWrites, type MixedWrites } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const rounds = Number(process.env.HALYARD_WORKER_ROUNDS ?? 2)
const workersCount = 3
const writesInRound = 10
const seed = Number(process.env.HALYARD_FAULT_SEED ?? 11)

interface Line {
  readonly msg?: string
  readonly pid?: number
  readonly worker?: number
  readonly signal?: string | null
}

const linesOf = (server: ServerProcess): Line[] =>
  server.lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line) as Line)

/** The running workers, oldest first. */
function workersOf(server: ServerProcess): number[] {
  const lines = linesOf(server)
  const ended = new Set(lines.filter(({ msg }) => msg?.startsWith('a worker exited')).map(({ worker }) => worker))
  const served = lines.filter(({ msg }) => msg === 'Halyard is serving').map(({ pid }) => pid as number)
  return served.filter(pid => !ended.has(pid))
}

/** Writes during the faults; a disconnected writer starts again. */
async function writeContinuously(load: MixedWrites, url: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) await load.run(url, stop).catch(() => {})
}

async function underLoad(
  databaseUrl: string,
  oneRound: (server: ServerProcess) => Promise<void>,
): Promise<{ readonly server: ServerProcess; readonly load: MixedWrites }> {
  const server = await startServer(databaseUrl, { HALYARD_WORKERS: String(workersCount) })
  const load = createMixedWrites(seededRandom(seed))
  const stop = new AbortController()
  try {
    await expect.poll(() => workersOf(server)).toHaveLength(workersCount)
    const writing = writeContinuously(load, server.url, stop.signal)
    for (let round = 0; round < rounds; round += 1) {
      const before = load.writes.length
      await expect.poll(() => load.writes.length).toBeGreaterThan(before + writesInRound)
      await oneRound(server)
      await expect.poll(() => workersOf(server)).toHaveLength(workersCount)
    }
    stop.abort()
    await writing
  } finally {
    stop.abort()
    expect(await server.stop(), server.lines.slice(-30).join('\n')).toBe(0)
  }
  return { server, load }
}

const signalsOf = (server: ServerProcess) =>
  linesOf(server)
    .filter(({ msg }) => msg?.startsWith('a worker exited'))
    .map(({ signal }) => signal)

const acknowledged = ({ writes }: MixedWrites) => writes.filter(({ outcome }) => outcome === 'acknowledged').length

onEachDatabase('workers under writes', dialect => {
  it(
    `are killed ${rounds} times one after another, are replaced, and lose no write`,
    async () => {
      const database = await createTestDatabase(dialect)
      const { server, load } = await underLoad(database.url, async running => {
        const [oldest] = workersOf(running)
        process.kill(oldest!, 'SIGKILL')
        await expect.poll(() => workersOf(running)).not.toContain(oldest)
      })
      // No process exited except by the kills.
      expect(signalsOf(server)).toEqual(Array(rounds).fill('SIGKILL'))
      expect(await findFaults(database.url, load.writes)).toEqual([])
      console.log(`${dialect}: ${rounds} workers killed during ${acknowledged(load)} acknowledged writes`)
      await database.drop()
    },
    180_000 + rounds * 30_000,
  )
})

it(
  `workers survive ${rounds} terminations of all PostgreSQL connections and lose no write`,
  async () => {
    const database = await createTestDatabase('postgres')
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const { server, load } = await underLoad(database.url, async () => {
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
    })
    await admin.end()
    expect(signalsOf(server)).toEqual([])
    expect(await findFaults(database.url, load.writes)).toEqual([])
    console.log(`postgres: connections terminated ${rounds} times during ${acknowledged(load)} acknowledged writes`)
    await database.drop()
  },
  180_000 + rounds * 30_000,
)
