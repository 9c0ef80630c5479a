import type { Config } from '../../config.ts'
import { createClickHouseClient } from '../../features/events/clickhouse/clickhouse-client.ts'
import { countStatements } from '../../features/events/clickhouse/count-statements.ts'
import { sqlEventBacklogStore } from '../../features/events/clickhouse/event-backlog-store.sql.ts'
import { storedTables } from '../../features/events/clickhouse/schema.ts'
import type { EventsUrl } from '../../settings/events-url.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { readOnlyEnd } from '../../storage/sql-database.ts'
import type { Finding } from './security-findings.ts'

const backlogSecondsMax = 300

/** Checks each ClickHouse server of `EVENTS_URL`, and what waits for it. */
export async function eventsFindings(config: Config, storage: Storage): Promise<readonly Finding[]> {
  const { eventsUrl, eventsReadMillisecondsMax } = config
  if (!eventsUrl) return []
  const servers = eventsUrl.origins.map(origin => checkServer(eventsUrl, origin, eventsReadMillisecondsMax))
  return [...(await Promise.all(servers)), await checkBacklog(storage)]
}

async function checkServer(url: EventsUrl, origin: string, millisecondsMax: number): Promise<Finding> {
  const client = createClickHouseClient({ ...url, origins: [origin], quorum: 1 })
  const statements = countStatements(url.database)
  try {
    const [[version] = []] = await client.query(statements.version(), millisecondsMax)
    const names = (await client.query(statements.tables(), millisecondsMax)).map(([name]) => String(name))
    const missing = storedTables.filter(table => !names.includes(table))
    return missing.length === 0
      ? { isGood: true, text: `ClickHouse ${version} at ${origin} responds and has its tables.` }
      : {
          isGood: false,
          text: `ClickHouse ${version} at ${origin} has no ${missing.join(', ')}. A node with EVENTS_URL creates them; check its log and the grants.`,
        }
  } catch (error) {
    return { isGood: false, text: `ClickHouse: ${(error as Error).message}. Check EVENTS_URL and that it is running.` }
  }
}

async function checkBacklog({ kysely }: Storage): Promise<Finding> {
  const { batches, bytes, oldestAt } = await sqlEventBacklogStore(kysely, readOnlyEnd).measure()
  const seconds = oldestAt === undefined ? 0 : Math.round((Date.now() - Date.parse(oldestAt)) / 1000)
  const size = `${batches} batches of counts (${Math.ceil(bytes / 1024)} KiB) wait for ClickHouse`
  if (seconds <= backlogSecondsMax) return { isGood: true, text: `${size}.` }
  return {
    isGood: false,
    text: `${size}, the oldest for ${seconds} seconds. See whether a node logs events_forward_failed.`,
  }
}
