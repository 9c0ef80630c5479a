import pg from 'pg'
import { expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { startTcpProxy, through } from './tcp-proxy.ts'

const flagsBefore = 15
const flagsAfter = 10

interface Writer {
  /** Keys of flags whose creation was acknowledged. */
  readonly acknowledged: string[]
  stop(): Promise<void>
}

/** Creates flags on a node one after another, ignoring failures. */
function createContinuously(node: Scenario, name: string): Writer {
  const acknowledged: string[] = []
  let isStopped = false
  const work = (async () => {
    for (let n = 0; !isStopped; n++) {
      const key = `${name}-${n}`
      const reply = await node.post(`${node.project}/feature_flags/`, { key }).catch(() => undefined)
      if (reply?.status === 201) acknowledged.push(key)
      else expect([undefined, 503]).toContain(reply?.status)
    }
  })()
  return {
    acknowledged,
    async stop() {
      isStopped = true
      await work
    },
  }
}

const evaluated = async (node: Scenario): Promise<string[]> => {
  const { body } = await node.post('/flags/?v=2', { token: node.projectToken, distinct_id: 'user' })
  return Object.keys(body.flags).sort()
}

async function query<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

const keysIn = async (url: string): Promise<string[]> =>
  (await query<{ key: string }>(url, 'select key from flags')).map(({ key }) => key).sort()

/** Whether the standby has replayed everything that the primary has committed. */
async function isUpToDate(primary: PostgresServer): Promise<boolean> {
  const rows = await query<{ n: number }>(
    primary.url,
    "select count(*)::int as n from pg_stat_replication where state = 'streaming' and replay_lsn = pg_current_wal_lsn()",
  )
  return rows[0]?.n === 1
}

it.each([
  ['synchronous: no acknowledged write is lost', true],
  ['asynchronous, with lost commits: all nodes agree with the database', false],
])(
  'two nodes when PostgreSQL fails over to a standby, %s',
  async (_title, isWaitedFor) => {
    const primary = await startPostgres()
    const target = { host: '127.0.0.1', port: Number(new URL(primary.url).port) }
    const forNodes = await startTcpProxy(target)
    const forCopy = await startTcpProxy({ ...target })
    const copy = await primary.startCopy({ host: '127.0.0.1', port: forCopy.port })
    let isPrimaryAlive = true
    const nodes: Scenario[] = []
    const writers: Writer[] = []
    const acknowledged = () => writers.flatMap(writer => writer.acknowledged)
    try {
      await expect.poll(() => isUpToDate(primary)).toBe(true)
      if (isWaitedFor) {
        await query(primary.url, "alter system set synchronous_standby_names = 'copy'")
        await query(primary.url, 'select pg_reload_conf()')
        await expect
          .poll(() => query(primary.url, 'show synchronous_standby_names'))
          .toEqual([{ synchronous_standby_names: 'copy' }])
      }
      const environment = { HALYARD_STATEMENT_MILLISECONDS_MAX: '2000' }
      for (let n = 0; n < 2; n++) {
        nodes.push(await startScenario('postgres', { databaseUrl: through(forNodes, primary.url), environment }))
      }
      for (const node of nodes) expect(await evaluated(node)).toEqual([])
      writers.push(...nodes.map((node, n) => createContinuously(node, `node-${n}`)))
      await expect.poll(() => acknowledged().length).toBeGreaterThan(flagsBefore)
      if (!isWaitedFor) {
        // The standby silently stops receiving WAL.
        await expect.poll(() => isUpToDate(primary)).toBe(true)
        forCopy.refuse()
        const before = acknowledged().length
        await expect.poll(() => acknowledged().length).toBeGreaterThan(before + 5)
        // So change numbers that every node has already seen are assigned again.
        for (const writer of writers.splice(0)) await writer.stop()
        for (const node of nodes) await node.halyard.changes.catchUp()
      }
      forNodes.refuse()
      await primary.kill()
      isPrimaryAlive = false
      forCopy.refuse()
      expect(await query(copy.url, 'select pg_promote(true, 120) as done')).toEqual([{ done: true }])
      target.port = Number(new URL(copy.url).port)
      forNodes.admit()

      const before = acknowledged().length
      if (!isWaitedFor) writers.push(...nodes.map((node, n) => createContinuously(node, `later-${n}`)))
      await expect.poll(() => acknowledged().length, { timeout: 120_000 }).toBeGreaterThan(before + flagsAfter)
      for (const writer of writers) await writer.stop()
      const stored = await keysIn(copy.url)
      expect(stored).toEqual(expect.arrayContaining(acknowledged()))
      for (const node of nodes) await expect.poll(() => evaluated(node), { timeout: 120_000 }).toEqual(stored)
      expect((await nodes[0]!.post(`${nodes[0]!.project}/feature_flags/`, { key: 'zz-last' })).status).toBe(201)
      await expect.poll(() => evaluated(nodes[1]!)).toEqual([...stored, 'zz-last'])
      expect((await nodes[1]!.get('/_readyz')).status).toBe(200)
    } finally {
      for (const writer of writers) await writer.stop()
      for (const node of nodes) await node.close()
      await forNodes.close()
      await forCopy.close()
      await copy.stop()
      if (isPrimaryAlive) await primary.stop()
    }
  },
  600_000,
)
