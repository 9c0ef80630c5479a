import type { TestProject } from 'vitest/node'
import { startLane } from './servers.ts'

/** The ClickHouse of a run of `npm run test:clickhouse`, for every file of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startLane(process.env.TEST_CLICKHOUSE)
  project.provide('eventsUrl', cluster.url)
  return () => cluster.close()
}
