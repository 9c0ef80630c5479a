import type { Registry } from 'prom-client'
import type { Job } from '../../../jobs/job-runner.ts'
import type { EventsUrl } from '../../../settings/events-url.ts'
import type { Database } from '../../../stores.ts'
import { readHistories } from '../history/read-histories.ts'
import { usageDaysMax } from '../trim-events.ts'
import { createBacklogMonitor } from './backlog-monitor.ts'
import { createClickHouseClient } from './clickhouse-client.ts'
import type { EventsDatabase } from './clickhouse-stores.ts'
import { forwardCounts } from './forward-counts.ts'
import { createSchema } from './schema.ts'
import { trimCounts } from './trim-counts.ts'

interface Deps {
  readonly config: {
    readonly eventsUrl: EventsUrl | undefined
    readonly eventsReadMillisecondsMax: number
    readonly eventsBacklogBytesMax: number
  }
  readonly registry: Registry
  readonly log: Record<'info' | 'warn', (details: object, message: string) => void>
}

/** What a node does with ClickHouse; without `EVENTS_URL` nothing but its metrics. */
export interface EventsService {
  /** Undefined when the database stores what is counted. */
  readonly events: EventsDatabase | undefined
  readonly jobs: readonly Job[]
  start(database: Database): void
  stop(): void
}

export function createEventsService({ config, registry, log }: Deps): EventsService {
  const { eventsUrl, eventsReadMillisecondsMax: readMillisecondsMax } = config
  const monitor = createBacklogMonitor(registry, config.eventsBacklogBytesMax)
  if (!eventsUrl) return { events: undefined, jobs: [], start() {}, stop() {} }
  const client = createClickHouseClient(eventsUrl)
  return {
    events: { client, readMillisecondsMax, backlog: monitor.backlog },
    jobs: [
      forwardCounts({ client, schema: createSchema(client), monitor, log }),
      trimCounts(client, usageDaysMax, readMillisecondsMax),
      readHistories({ client, readMillisecondsMax, log }),
    ],
    start: database => monitor.start(() => database.query(tx => tx.eventBacklog.measure())),
    stop: monitor.stop,
  }
}
