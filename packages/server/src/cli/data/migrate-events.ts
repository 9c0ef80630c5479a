import { createClickHouseClient } from '../../features/events/clickhouse/clickhouse-client.ts'
import { migrateEvents } from '../../features/events/clickhouse/migrate-events.ts'
import { createSchema } from '../../features/events/clickhouse/schema.ts'
import { instantOf } from '../../instant.ts'
import { printJson, progress } from '../output.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

/** `halyard migrate-events`: copies the usage that the database has counted to ClickHouse, while servers run. Can be repeated. */
export async function migrateEventsCommand(options: { readonly json?: boolean }): Promise<void> {
  await withDatabase(async (database, _storage, config) => {
    if (!config.eventsUrl) throw new CommandError('Set EVENTS_URL to the ClickHouse that gets the counts.')
    const client = createClickHouseClient(config.eventsUrl)
    await createSchema(client)
      .ensure()
      .catch(error => {
        throw new CommandError(`The tables cannot be created: ${(error as Error).message}`)
      })
    const migrated = await migrateEvents(database, client, {
      now: instantOf(new Date()),
      onDay: day => progress(`Copied ${day}.`),
    })
    if (migrated.unequal.length > 0) {
      throw new CommandError(
        `The totals of ${migrated.unequal.join(', ')} differ. Start every node with EVENTS_URL, then run the command again.`,
      )
    }
    const { days, series, calls, copied } = migrated
    if (options.json) return printJson({ days, series, calls, copied_days: copied.length })
    console.log(`ClickHouse has the ${calls} uses of flags that the database has counted on ${days} days.`)
    console.log(`${copied.length} days were copied now; the others were equal already.`)
  })
}
