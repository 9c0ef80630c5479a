import { Registry } from 'prom-client'
import { inject } from 'vitest'
import { readConfig } from '../config.ts'
import { createClickHouseClient } from '../features/events/clickhouse/clickhouse-client.ts'
import { createEventsService } from '../features/events/clickhouse/events-service.ts'
import { instantOf } from '../instant.ts'
import { createJobRunner } from '../jobs/job-runner.ts'
import type { Halyard } from '../main.ts'
import type { RunningServer } from './scenario.ts'

/** With `npm run test:clickhouse`, scenarios count in ClickHouse, each in a database of its own. */
const laneUrl = inject('eventsUrl')

export const countsAreInDatabase = laneUrl === undefined

let counter = 0

export function eventsOfLane() {
  if (laneUrl === undefined) return undefined
  const name = `halyard_${process.pid}_${counter++}`
  const url = laneUrl.replace('/database', `/${name}`)
  return {
    url,
    /** Tests of the stores write and read at once: every read first sends what waits. */
    countBeforeReads(server: RunningServer, halyard: Halyard, config: ReturnType<typeof readConfig>) {
      const log = { info() {}, warn: (details: object) => console.warn(details) }
      const runner = createJobRunner({
        database: halyard.database,
        node: name,
        jobs: createEventsService({ config, registry: new Registry(), log }).jobs,
        now: () => instantOf(new Date()),
        everyMilliseconds: 0,
        onError: (job, error) => console.error(job, error),
      })
      const send = () => runner.runDue(instantOf(new Date()))
      const read: Halyard['database']['read'] = async (work, limits) => {
        await send()
        return halyard.database.read(work, limits)
      }
      const get: RunningServer['get'] = async (path, headers) => {
        await send()
        return server.get(path, headers)
      }
      return { ...server, get, halyard: { ...halyard, database: { ...halyard.database, read } } }
    },
    async drop() {
      const client = createClickHouseClient(readConfig({ EVENTS_URL: url }).eventsUrl!)
      for (const origin of client.url.origins) await client.execute(origin, `DROP DATABASE IF EXISTS ${name}`)
    },
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    /** With `/database` as the name of the database. Undefined unless ClickHouse is tested. */
    eventsUrl: string | undefined
  }
}
