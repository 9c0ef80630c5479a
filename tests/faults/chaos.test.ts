import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { findFaults } from './consistency.ts'
import { addressesOf, createMixedWrites, type Outcome } from './mixed-writes.ts'
import { seededRandom } from './random.ts'
import { ownerKey, type ServerProcess, startServer } from './server-process.ts'
import { addressOf, startTcpProxy, type TcpProxy, through } from './tcp-proxy.ts'

const steps = Number(process.env.HALYARD_CHAOS_STEPS ?? 5)
const seed = Number(process.env.HALYARD_FAULT_SEED ?? Date.now() % 1_000_000)
/** Killed nodes are part of the long run, because their leases expire after a minute. */
const isLong = steps > 20
const stepMillisecondsMax = 60_000
const writesBetweenFaults = 8
const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }

/** A node in its own process, with its own proxy to the database. */
interface Node {
  server: ServerProcess
  readonly proxy: TcpProxy
  restart(): Promise<void>
}

type Fault = (node: Node, database: pg.Client) => Promise<void>

const faults: Readonly<Record<string, Fault>> = {
  async 'connections are cut'({ proxy }) {
    proxy.cut()
  },
  async 'the network drops all packets'({ proxy }) {
    proxy.freeze()
    await wait(800)
    proxy.thaw()
  },
  async 'responses of the database are lost'({ proxy }) {
    proxy.deafen()
    await wait(800)
    proxy.cut()
    proxy.thaw()
  },
  async 'the database cannot be reached'({ proxy }) {
    proxy.refuse()
    await wait(500)
    proxy.admit()
  },
  async 'the process is paused'({ server }) {
    server.signal('SIGSTOP')
    await wait(1500)
    server.signal('SIGCONT')
  },
  async 'the database ends every connection'(_node, database) {
    await database.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'halyard%'",
    )
  },
  ...(isLong && {
    async 'the process is killed and started again'(node: Node) {
      await node.server.kill()
      await node.restart()
    },
  }),
}

describe.each(['notify', 'poll'])('three nodes on one PostgreSQL, channel %s', channel => {
  it(
    `converge without losing a write after ${steps} faults under load (seed ${seed})`,
    async () => {
      const random = seededRandom(seed)
      const database = await createTestDatabase('postgres')
      const admin = new pg.Client({ connectionString: database.url })
      await admin.connect()
      const environment = {
        HALYARD_CHANGE_CHANNEL: channel,
        HALYARD_SCHEDULER_SECONDS: '1',
        HALYARD_STATEMENT_MILLISECONDS_MAX: '1500',
      }
      const nodes: Node[] = []
      const stop = new AbortController()
      const load = createMixedWrites(random)
      const happened: string[] = []
      const acknowledged = () => load.writes.filter(write => write.outcome === 'acknowledged').length
      try {
        for (let index = 0; index < 3; index++) nodes.push(await startNode(database.url, environment))
        const writing = nodes.map(node => writeContinuously(node, load.run, stop.signal))
        const planned = planChanges(nodes, await flagToChange(nodes[0] as Node), stop.signal)
        for (let step = 0; step < steps; step++) {
          const node = nodes[Math.floor(random() * nodes.length)] as Node
          const names = Object.keys(faults)
          const name = names[Math.floor(random() * names.length)] as string
          happened.push(name)
          await faults[name]?.(node, admin)
          const goal = acknowledged() + writesBetweenFaults
          await expect.poll(acknowledged, { timeout: stepMillisecondsMax }).toBeGreaterThan(goal)
        }
        stop.abort()
        await Promise.all(writing)
        const markers = await planned

        await expect.poll(async () => (await pendingIn(admin)) === 0, { timeout: 120_000 }).toBe(true)
        expect(await timesMade(admin, markers)).toEqual(new Map(markers.map(marker => [marker, 1])))
        expect(await findFaults(database.url, load.writes)).toEqual([])
        await expect.poll(async () => new Set(await Promise.all(nodes.map(evaluated))).size).toBe(1)
        expect(await evaluated(nodes[0] as Node)).toBe(await evaluatedBy(admin))
      } finally {
        stop.abort()
        const count = (outcome: Outcome) => load.writes.filter(write => write.outcome === outcome).length
        console.log(
          `${channel}: ${happened.length} faults (${[...new Set(happened)].length} kinds), ${count('acknowledged')} acknowledged writes, ` +
            `${count('unknown')} without a response, ${count('refused')} rejected`,
        )
        for (const node of nodes) {
          node.server.signal('SIGCONT')
          node.proxy.thaw()
          node.proxy.admit()
          await node.server.stop()
          await node.proxy.close()
        }
        await admin.end()
        await database.drop()
      }
    },
    steps * stepMillisecondsMax + 240_000,
  )
})

async function startNode(databaseUrl: string, environment: Record<string, string>): Promise<Node> {
  const proxy = await startTcpProxy(addressOf(databaseUrl))
  const start = () => startServer(through(proxy, databaseUrl), environment)
  const node: Node = {
    proxy,
    server: await start(),
    async restart() {
      node.server = await start()
    },
  }
  return node
}

/** Continues when the node is killed and restarted. */
async function writeContinuously(
  node: Node,
  run: (url: string, stop: AbortSignal) => Promise<void>,
  stop: AbortSignal,
) {
  while (!stop.aborted) {
    await run(node.server.url, stop).catch(() => {})
    await wait(50)
  }
}

interface FlagToChange {
  readonly project: string
  readonly id: number
}

async function flagToChange({ server }: Node): Promise<FlagToChange> {
  const { project } = await addressesOf(server.url)
  const created = await fetch(`${server.url}${project}/feature_flags/`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key: 'planned', name: 'planned' }),
  })
  return { project, id: ((await created.json()) as { id: number }).id }
}

/** Schedules changes that are due immediately, one after another on alternating nodes. Returns the acknowledged names. */
async function planChanges(
  nodes: readonly Node[],
  { project, id }: FlagToChange,
  stop: AbortSignal,
): Promise<string[]> {
  const planned: string[] = []
  for (let n = 0; !stop.aborted; n++) {
    const marker = `planned-${n}`
    const body = {
      record_id: String(id),
      model_name: 'FeatureFlag',
      payload: { operation: 'update', value: { name: marker } },
      scheduled_at: new Date(Date.now() + 100).toISOString(),
    }
    const reply = await fetch(`${nodes[n % nodes.length]!.server.url}${project}/scheduled_changes/`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => undefined)
    if (reply?.status === 201) planned.push(marker)
    await wait(200)
  }
  return planned
}

async function pendingIn(database: pg.Client): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::int as n from scheduled_changes where status = 'pending' and due_at < '2900'`,
  )
  return rows[0].n
}

/** How often each scheduled change was applied. */
async function timesMade(database: pg.Client, markers: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await database.query<{ name: string; n: number }>(
    `select snapshot::json ->> 'name' as name, count(*)::int as n from flag_versions group by 1`,
  )
  const times = new Map(rows.map(row => [row.name, row.n]))
  return new Map(markers.map(marker => [marker, times.get(marker) ?? 0]))
}

/** Every flag with its version, as a node serves it from memory. */
async function evaluated({ server }: Node): Promise<string> {
  const { token } = await addressesOf(server.url)
  const reply = await fetch(`${server.url}/flags/?v=2`, {
    method: 'POST',
    body: JSON.stringify({ token, distinct_id: 'user' }),
  })
  const { flags } = (await reply.json()) as { flags: Record<string, { metadata: { version: number } }> }
  return lines(Object.entries(flags).map(([key, flag]) => [key, flag.metadata.version]))
}

async function evaluatedBy(database: pg.Client): Promise<string> {
  const { rows } = await database.query<{ key: string; version: number }>(
    'select key, version from flags where deleted = 0 and active = 1 and project_id = (select min(id) from projects)',
  )
  return lines(rows.map(row => [row.key, row.version]))
}

const lines = (flags: (readonly [string, number])[]): string =>
  flags
    .map(([key, version]) => `${key} ${version}`)
    .sort()
    .join('\n')
