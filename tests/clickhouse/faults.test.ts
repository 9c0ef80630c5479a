import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouseClient } from '../../packages/server/src/features/events/clickhouse/clickhouse-client.ts'
import { countStatements } from '../../packages/server/src/features/events/clickhouse/count-statements.ts'
import { storedTables } from '../../packages/server/src/features/events/clickhouse/schema.ts'
import { eventsUrl } from '../../packages/server/src/settings/events-url.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type RunningServer, visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'
import { type Cluster, startCluster } from './servers.ts'
import { findServers } from './software.ts'

const software = findServers()

describe.runIf(software && process.env.TEST_CLICKHOUSE === 'replicated')('two replicas under load', () => {
  let cluster: Cluster
  let database: TestDatabase
  let node: ServerProcess
  let server: RunningServer
  let url: string
  const events = { acknowledged: 0, unknown: 0, evaluationsFailed: 0 }
  let isLoading = true

  const startNode = async () => {
    node = await startServer(database.url, {
      EVENTS_URL: url,
      HALYARD_SCHEDULER_SECONDS: '1',
      HALYARD_LAG_MILLISECONDS_MAX: '0',
    })
    server = await visitServer(node.url, ownerKey)
  }

  beforeAll(async () => {
    cluster = await startCluster(software!)
    url = cluster.url.replace('/database', '/faults')
    database = await createTestDatabase('sqlite')
    await startNode()
    await server.post(`${server.project}/feature_flags/`, { key: 'busy', active: true })
  })
  afterAll(async () => {
    await node?.stop()
    await cluster?.close()
    await database?.drop()
  })

  let user = 0
  async function sendBatch(): Promise<void> {
    const size = 50
    const properties = { $feature_flag: 'busy', $feature_flag_response: true }
    const batch = Array.from({ length: size }, () => ({
      event: '$feature_flag_called',
      distinct_id: `user-${user++ % 5000}`,
      properties,
    }))
    const body = JSON.stringify({ api_key: server.projectToken, batch })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${node.url}/batch/`, { method: 'POST', body, headers }).catch(() => undefined)
    if (response?.status === 200) events.acknowledged += size
    else events.unknown += size
  }

  async function evaluate(): Promise<void> {
    const body = JSON.stringify({ api_key: server.projectToken, distinct_id: `user-${user % 5000}` })
    const response = await fetch(`${node.url}/flags/?v=2`, { method: 'POST', body }).catch(() => undefined)
    if (response?.status !== 200) events.evaluationsFailed += 1
  }

  async function load(): Promise<void> {
    while (isLoading) {
      await sendBatch()
      await evaluate()
      await wait(5)
    }
  }

  const acknowledgedMore = async (count: number) => {
    const before = events.acknowledged
    await expect.poll(() => events.acknowledged).toBeGreaterThan(before + count)
  }

  it('counts exactly what was recorded, although each process is killed in turn', { timeout: 300_000 }, async () => {
    // A replica that dies while it creates a table has to be dropped from ZooKeeper by hand.
    for (const origin of eventsUrl(url).origins) {
      const client = createClickHouseClient({ ...eventsUrl(url), origins: [origin] })
      const tables = () => client.query(countStatements('faults').tables(), 10_000).catch(() => [])
      await expect.poll(tables).toEqual(expect.arrayContaining(storedTables.map(name => [name])))
    }
    const loading = Promise.all([load(), load()])
    await acknowledgedMore(1000)
    for (const replica of cluster.replicas) {
      await replica.kill()
      await acknowledgedMore(1000)
      await replica.start()
    }
    for (const replica of cluster.replicas) await replica.kill()
    await acknowledgedMore(1000)
    expect((await server.get('/_readyz')).status).toBe(200)
    expect(events.evaluationsFailed).toBe(0)
    await Promise.all(cluster.replicas.map(({ start }) => start()))
    await cluster.keeper?.kill()
    await acknowledgedMore(1000)
    await cluster.keeper?.start()
    await node.kill()
    await startNode()
    await acknowledgedMore(1000)
    isLoading = false
    await loading

    const storage = openStorage(database.url)
    const backlog = () => storage.kysely.selectFrom('event_backlog').select('id').execute()
    await expect.poll(backlog, { timeout: 120_000 }).toEqual([])
    const { recorded } = await storage.kysely
      .selectFrom('event_counts')
      .select(({ fn }) => fn.sum<number>('count').as('recorded'))
      .where('event', '=', '$feature_flag_called')
      .where('flag_key', '=', '')
      .executeTakeFirstOrThrow()
    await storage.close()
    expect(recorded).toBeGreaterThanOrEqual(events.acknowledged)
    expect(recorded).toBeLessThanOrEqual(events.acknowledged + events.unknown)
    for (const origin of eventsUrl(url).origins) {
      const client = createClickHouseClient({ ...eventsUrl(url), origins: [origin] })
      const sum = (table: string, column: string) => async () =>
        Number(
          (
            await client.query(
              `SELECT sum(n) AS total FROM (SELECT block, max(${column}) AS n FROM faults.${table} ${only[table] ?? ''} GROUP BY ${keys[table]}, block)`,
              10_000,
            )
          )[0]?.[0],
        )
      await expect.poll(sum('flag_usage', 'calls'), { timeout: 60_000 }).toBe(Number(recorded))
      await expect.poll(sum('event_minutes', 'events'), { timeout: 60_000 }).toBe(Number(recorded))
    }
  })
})

const keys: Record<string, string> = {
  flag_usage: 'project, flag, kind, day, variant',
  event_minutes: 'project, event, minute',
}

const only: Record<string, string> = { event_minutes: "WHERE event = '$feature_flag_called'" }
