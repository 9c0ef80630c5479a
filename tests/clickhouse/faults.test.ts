import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouseClient } from '../../packages/server/src/features/events/clickhouse/clickhouse-client.ts'
import { countStatements } from '../../packages/server/src/features/events/clickhouse/count-statements.ts'
import { storedTables } from '../../packages/server/src/features/events/clickhouse/schema.ts'
import { eventsUrl } from '../../packages/server/src/settings/events-url.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { edgeKey, newEdgeFolder, removeEdgeFolder } from '../../packages/server/src/testing/edges.ts'
import { type RunningServer, visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey } from '../faults/server-process.ts'
import { addressOf, startTcpProxy, type TcpProxy, through } from '../faults/tcp-proxy.ts'
import { createFaultLoad, type FaultLoad } from './fault-load.ts'
import { type KillableProcess, killableEdge, killableNode } from './killable.ts'
import { type Cluster, startLane } from './servers.ts'

const database = 'faults'

/** What is away in a step, and how it returns. */
interface Fault {
  readonly name: string
  begin(): unknown
  end(): unknown
}

describe.runIf(process.env.TEST_CLICKHOUSE)('two nodes, two edges and their stores under load', () => {
  let cluster: Cluster
  let main: TestDatabase
  let persons: TestDatabase
  let mainProxy: TcpProxy
  let personsProxy: TcpProxy
  let eventProxies: readonly TcpProxy[]
  let nodes: readonly KillableProcess[] = []
  let edges: readonly KillableProcess[] = []
  const folders: string[] = []
  let server: RunningServer
  let load: FaultLoad
  const eventOrigins = () => eventsUrl(cluster.url).origins

  beforeAll(async () => {
    cluster = await startLane(process.env.TEST_CLICKHOUSE)
    main = await createTestDatabase('postgres')
    persons = await createTestDatabase('postgres', 'empty')
    mainProxy = await startTcpProxy(addressOf(main.url))
    personsProxy = await startTcpProxy(addressOf(persons.url))
    eventProxies = await Promise.all(eventOrigins().map(origin => startTcpProxy(addressOf(origin))))
    const settings = {
      PERSONS_DATABASE_URL: through(personsProxy, persons.url),
      EVENTS_URL: throughAll(cluster.url, eventProxies),
      HALYARD_SCHEDULER_SECONDS: '1',
    }
    const node = () => killableNode(through(mainProxy, main.url), settings)
    nodes = [await node(), await node()]
    server = await visitServer(nodes[0]!.url, ownerKey)
    await prepare(server)
    const key = await edgeKey(server)
    for (const { url } of nodes) {
      const folder = await newEdgeFolder()
      folders.push(folder)
      edges = [...edges, await killableEdge(['--upstream', url, '--data', folder], key)]
    }
    load = createFaultLoad(server.projectToken, nodes, edges)
  }, 240_000)

  afterAll(async () => {
    await load?.stop()
    await Promise.all([...edges, ...nodes].map(({ kill }) => kill()))
    await Promise.all([mainProxy, personsProxy, ...(eventProxies ?? [])].map(proxy => proxy?.close()))
    await cluster?.close()
    await Promise.all([main?.drop(), persons?.drop(), ...folders.map(removeEdgeFolder)])
  })

  /** A replica that dies while it creates a table has to be dropped from ZooKeeper by hand. */
  async function untilTablesExist(): Promise<void> {
    for (const origin of eventOrigins()) {
      const client = createClickHouseClient({ ...eventsUrl(withDatabase(cluster.url)), origins: [origin] })
      const tables = () => client.query(countStatements(database).tables(), 10_000).catch(() => [])
      await expect.poll(tables, { timeout: 120_000 }).toEqual(expect.arrayContaining(storedTables.map(name => [name])))
    }
  }

  const killing = (name: string, killed: readonly { kill(): Promise<void>; start(): Promise<void> }[]): Fault => ({
    name,
    begin: () => Promise.all(killed.map(({ kill }) => kill())),
    end: () => Promise.all(killed.map(({ start }) => start())),
  })
  const cutting = (name: string, proxy: TcpProxy): Fault => ({
    name,
    begin: () => proxy.refuse(),
    end: () => proxy.admit(),
  })

  /** While the stores that they need are there. */
  const storesOfCounts = (): readonly Fault[] => [
    ...cluster.replicas.map((replica, n) => killing(`replica ${n + 1}`, [replica])),
    killing('every replica', cluster.replicas),
    ...(cluster.keeper ? [killing('the keeper', [cluster.keeper])] : []),
    {
      name: 'the network to ClickHouse, silently',
      begin: () => eventProxies.map(proxy => proxy.freeze()),
      end: () => eventProxies.map(proxy => [proxy.thaw(), proxy.cut()]),
    },
  ]

  it('count exactly what was acknowledged, and evaluate all the time', { timeout: 900_000 }, async () => {
    await untilTablesExist()
    await load.start()
    await load.continues({ withStoredProperties: true })
    for (const { name, begin, end } of [...storesOfCounts(), cutting('the network to the main database', mainProxy)]) {
      console.log(`away: ${name}`)
      await begin()
      await load.continues({ withStoredProperties: true })
      await end()
      await load.continues({ withStoredProperties: true })
    }
    const others = [
      cutting('the network to the persons database', personsProxy),
      ...nodes.map((node, n) => killing(`node ${n + 1}`, [node])),
      ...edges.map((edge, n) => killing(`edge ${n + 1}`, [edge])),
    ]
    for (const { name, begin, end } of others) {
      console.log(`away: ${name}`)
      await begin()
      await load.continues()
      await end()
      await load.continues({ withStoredProperties: true })
    }
    await load.stop()
    expect(load.failedEvaluations).toEqual([])

    await untilForwarded()
    const { acknowledged, refused, unknown } = load.events
    console.log(`${acknowledged} events acknowledged, ${refused} refused, ${unknown} unknown`)
    const within = (recorded: number) => {
      expect(recorded).toBeGreaterThanOrEqual(acknowledged)
      expect(recorded).toBeLessThanOrEqual(acknowledged + unknown)
    }
    const { events, buyers } = await recordedInPostgres()
    within(events)
    within(buyers.reduce((sum, { count }) => sum + count, 0))
    const known = new Set(buyers.map(({ distinctId }) => distinctId))
    expect(load.acknowledgedIds.filter(id => !known.has(id))).toEqual([])
    for (const origin of eventOrigins()) {
      await expect.poll(() => countedBy(origin), { timeout: 120_000 }).toEqual({ calls: events, events })
    }
  })

  /** Edges keep what their node has not accepted, and nodes what ClickHouse has not. */
  async function untilForwarded(): Promise<void> {
    const spooled = async ({ url }: KillableProcess) =>
      /halyard_edge_spool_bytes (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
    for (const edge of edges) await expect.poll(() => spooled(edge), { timeout: 120_000 }).toBe('0')
    const storage = openStorage(main.url)
    const backlog = () => storage.kysely.selectFrom('event_backlog').select('id').execute()
    await expect.poll(backlog, { timeout: 120_000 }).toEqual([])
    await storage.close()
  }

  /** How many uses of the flag, and how often each person is counted for the cohort that names them. */
  async function recordedInPostgres() {
    const [mainStorage, personsStorage] = [openStorage(main.url), openStorage(persons.url)]
    const { total } = await mainStorage.kysely
      .selectFrom('event_counts')
      .select(({ fn }) => fn.sum<number>('count').as('total'))
      .where('event', '=', '$feature_flag_called')
      .where('flag_key', '=', '')
      .executeTakeFirstOrThrow()
    const counted = await personsStorage.kysely
      .selectFrom('person_event_days')
      .innerJoin('person_distinct_ids', 'person_distinct_ids.person_id', 'person_event_days.person_id')
      .select(['distinct_id', 'count'])
      .execute()
    await Promise.all([mainStorage.close(), personsStorage.close()])
    const buyers = counted.map(({ distinct_id, count }) => ({ distinctId: distinct_id, count: Number(count) }))
    return { events: Number(total), buyers }
  }

  async function countedBy(origin: string) {
    const client = createClickHouseClient({ ...eventsUrl(withDatabase(cluster.url)), origins: [origin] })
    const sum = async (table: string, column: string, keys: string, condition = '') => {
      const blocks = `SELECT max(${column}) AS n FROM ${database}.${table} ${condition} GROUP BY ${keys}, block`
      const [row] = await client.query(`SELECT sum(n) AS total FROM (${blocks})`, 10_000)
      return Number(row?.[0])
    }
    const condition = "WHERE event = '$feature_flag_called'"
    return {
      calls: await sum('flag_usage', 'calls', 'project, flag, kind, day, variant'),
      events: await sum('event_minutes', 'events', 'project, event, minute', condition),
    }
  }
})

/** A flag for everyone, one for a stored property, and a cohort for which every use of a flag is counted. */
async function prepare(server: RunningServer): Promise<void> {
  const { post, project, projectToken } = server
  await post(`${project}/feature_flags/`, { key: 'plain', active: true })
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  await post(`${project}/feature_flags/`, { key: 'stored', filters: { groups: [{ properties: pro }] } })
  const often = {
    type: 'behavioral',
    key: '$feature_flag_called',
    value: 'performed_event_multiple',
    operator: 'gte',
    operator_value: 1_000_000,
    time_value: 7,
    time_interval: 'day',
  }
  const filters = { properties: { type: 'AND', values: [often] } }
  expect((await post(`${project}/cohorts/`, { name: 'Often', filters })).status).toBe(201)
  const identify = { event: '$identify', distinct_id: 'known', properties: { $set: { plan: 'pro' } } }
  expect((await post('/capture/', { api_key: projectToken, ...identify })).status).toBe(200)
}

const withDatabase = (url: string): string => url.replace('/database', `/${database}`)

/** The same servers, each through its proxy. */
const throughAll = (url: string, proxies: readonly TcpProxy[]): string =>
  eventsUrl(url).origins.reduce(
    (text, origin, n) => text.replace(new URL(origin).host, `127.0.0.1:${proxies[n]!.port}`),
    withDatabase(url),
  )
