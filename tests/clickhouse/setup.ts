import type { TestProject } from 'vitest/node'
import { type Cluster, startChdb, startCluster } from './servers.ts'
import { findChdb, findServers } from './software.ts'

/** The ClickHouse of a run of `npm run test:clickhouse`, for every file of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startLane(process.env.TEST_CLICKHOUSE)
  project.provide('eventsUrl', cluster.url)
  return () => cluster.close()
}

async function startLane(lane: string | undefined): Promise<Cluster> {
  const servers = findServers()
  if (lane === 'replicated' && servers) return startCluster(servers)
  const chdb = findChdb()
  if (lane === 'current' && chdb) return startChdb(chdb)
  throw new Error('ClickHouse is not installed. Run: npm run test:clickhouse -- --install')
}
