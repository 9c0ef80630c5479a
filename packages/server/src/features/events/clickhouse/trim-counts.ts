import { plusMilliseconds } from '../../../instant.ts'
import type { Job } from '../../../jobs/job-runner.ts'
import { dayOf } from '../usage/usage.ts'
import { type ClickHouseClient, ClickHouseError } from './clickhouse-client.ts'
import { countStatements } from './count-statements.ts'
import { storedTables } from './schema.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
const everyMilliseconds = 60 * 60 * 1000

/** Drops the months of ClickHouse that lie wholly before the retention period, checked once an hour. */
export function trimCounts(client: ClickHouseClient, days: number, readMillisecondsMax: number): Job {
  const statements = countStatements(client.url.database)
  let nextAt = Number.NEGATIVE_INFINITY

  /** Replicas drop it for each other, but a replica may refuse to pass the order on: one success is enough. */
  async function drop(table: string, month: string): Promise<void> {
    const results = await Promise.allSettled(
      client.url.origins.map(origin => client.execute(origin, statements.dropPartition(table, month))),
    )
    const failed = results.find(result => result.status === 'rejected')
    if (failed && results.every(({ status }) => status === 'rejected')) throw failed.reason
  }

  return {
    name: 'trim-counts',
    async run({ now }) {
      if (performance.now() < nextAt) return
      const oldestMonth = dayOf(plusMilliseconds(now, -days * dayMilliseconds))
        .replace('-', '')
        .slice(0, 6)
      try {
        for (const [table, partition] of await client.query(statements.partitions(), readMillisecondsMax)) {
          const [name, month] = [String(table), String(partition)]
          const isOld = /^\d{6}$/.test(month) && month < oldestMonth
          if (isOld && storedTables.some(stored => stored === name)) await drop(name, month)
        }
        nextAt = performance.now() + everyMilliseconds
      } catch (error) {
        // Forwarding reports that ClickHouse is away; the months are dropped later.
        if (!(error instanceof ClickHouseError)) throw error
      }
    },
  }
}
