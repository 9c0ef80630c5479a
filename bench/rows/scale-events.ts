import { type Cluster, startChdb, startCluster } from '../../tests/clickhouse/servers.ts'
import { findChdb, findServers } from '../../tests/clickhouse/software.ts'
import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags } from '../installation.ts'
import type { Figure } from '../measure.ts'
import { eventsPerRequest } from '../requests.ts'
import type { Row, RowContext } from '../row.ts'
import { noProcesses, type ProcessGroup, postgresProcesses, processesOf } from '../scale/process-group.ts'

const flagCount = 10
const connections = 8

/** Where events are counted, and what it costs there. */
interface Store {
  readonly name: string
  readonly databaseUrl: string
  readonly environment: Readonly<Record<string, string>>
  readonly group: ProcessGroup
  close(): Promise<void>
}

/** Events per second that are stored and counted, and the CPU time of each: uses of flags and custom events, half of each. */
export const scaleEvents: Row = async context => {
  const figures: Figure[] = []
  for (const open of [sqlite, postgres, clickHouse]) {
    const store = await open(context)
    if (store === undefined) context.log('  ClickHouse is not installed: npm run test:clickhouse -- --install')
    else figures.push(...(await eventsOn(context, store)))
  }
  return figures
}

async function eventsOn({ size, installations, load, log }: RowContext, store: Store): Promise<Figure[]> {
  try {
    const halyard = await installations.open(store.databaseUrl, store.environment)
    if (!store.databaseUrl.startsWith('sqlite:')) await createFlags(halyard, flagCount)
    const plan = { kind: 'events', token: halyard.token } as const
    const target = { id: `events ${store.name}`, port: halyard.port, pid: halyard.pid, plan, status: 200 }
    const run = await load.aim(target, connections)
    await run(Math.min(2000, size.scaleEventMilliseconds))
    log(`  ${store.name}: ${(size.scaleEventMilliseconds / 1000).toFixed(0)} s of events …`)
    const before = store.group.cpuSeconds()
    const round = await run(size.scaleEventMilliseconds)
    const storeCpuEach = ((store.group.cpuSeconds() - before) / round.requests / eventsPerRequest) * 1e6
    await halyard.stop()
    return [
      {
        measure: `${store.name}: events per second over ${(round.seconds / 60).toFixed(1)} minutes`,
        value: round.perSecond * eventsPerRequest,
        unit: '/s',
        note: `batches of ${eventsPerRequest}, p50 ${round.p50.toFixed(1)} ms, p99 ${round.p99.toFixed(1)} ms`,
      },
      {
        measure: `${store.name}: CPU per event`,
        value: round.cpuEach / eventsPerRequest,
        unit: 'µs',
        ...(store.group !== noProcesses && { note: `and ${storeCpuEach.toFixed(1)} µs of the store's own processes` }),
      },
    ]
  } finally {
    await store.close()
  }
}

async function sqlite({ installations }: RowContext): Promise<Store> {
  const { databaseUrl } = await installations.copy(flagCount)
  return { name: 'SQLite', databaseUrl, environment: {}, group: noProcesses, close: async () => {} }
}

async function postgres(): Promise<Store> {
  const server = await startPostgres(['fsync=on', 'full_page_writes=on', 'shared_buffers=256MB'])
  const group = await postgresProcesses(server.url)
  return { name: 'PostgreSQL', databaseUrl: server.url, environment: {}, group, close: server.stop }
}

/** The counts in ClickHouse, everything else in SQLite. */
async function clickHouse({ installations }: RowContext): Promise<Store | undefined> {
  const [servers, chdb] = [findServers(), findChdb()]
  if (servers === undefined && chdb === undefined) return undefined
  const start = (): Promise<Cluster> => (servers === undefined ? startChdb(chdb!) : startCluster(servers))
  const { started: cluster, group } = await processesOf(start)
  const { databaseUrl } = await installations.copy(flagCount)
  return {
    name: servers === undefined ? 'ClickHouse (chdb)' : 'ClickHouse 18.16, two replicas and ZooKeeper',
    databaseUrl,
    environment: { EVENTS_URL: cluster.url },
    group,
    close: () => cluster.close(),
  }
}
