import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { MainDatabase } from '../../../stores.ts'
import { usageDaysMax } from '../trim-events.ts'
import { type Day, dayOf } from '../usage/usage.ts'
import type { ClickHouseClient } from './clickhouse-client.ts'
import { countStatements } from './count-statements.ts'
import { tables } from './schema.ts'

/** A series is copied as one row of this block, so that copying it again replaces it. */
const migratedBlock = 'migrated'
const seriesPerPage = 500
const readMillisecondsMax = 60_000
const dayMilliseconds = 24 * 60 * 60 * 1000

export interface MigrationTotals {
  readonly days: number
  readonly series: number
  readonly calls: number
  /** Days that this run has copied; the others were equal already. */
  readonly copied: readonly Day[]
  /** Days whose totals differ after copying: a node still counts in the database. */
  readonly unequal: readonly Day[]
}

/**
 * Copies the usage of flags, day by day, and compares the totals. Days that are equal are left out: the work resumes where it ended. Counts by
 * minute need not be copied, since those of the last week are read from the database.
 */
export async function migrateEvents(
  database: MainDatabase,
  client: ClickHouseClient,
  { now, onDay }: { readonly now: Instant; readonly onDay: (day: Day) => void },
): Promise<MigrationTotals> {
  // The oldest day may be removed meanwhile.
  const from = dayOf(plusMilliseconds(now, -(usageDaysMax - 1) * dayMilliseconds))
  const totals = await database.read(tx => tx.usageHistory.totalsByDay(from))
  const before = await findUnequal()
  for (const day of before) {
    await copyDay(database, client, day)
    onDay(day)
  }
  const all = [...totals.values()]
  return {
    days: totals.size,
    series: all.reduce((sum, { series }) => sum + series, 0),
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    copied: before,
    unequal: await findUnequal(),
  }

  /** The days for which ClickHouse has other totals than the database now. */
  async function findUnequal(): Promise<readonly Day[]> {
    const expected = await database.read(tx => tx.usageHistory.totalsByDay(from))
    const statement = countStatements(client.url.database).totalsOfBlock(migratedBlock, from)
    const rows = await client.query(statement, readMillisecondsMax)
    const copied = new Map(rows.map(([day, series, calls]) => [String(day), `${Number(series)}/${Number(calls)}`]))
    return [...expected]
      .filter(([day, { series, calls }]) => copied.get(day) !== `${series}/${calls}`)
      .map(([day]) => day)
  }
}

async function copyDay(database: MainDatabase, client: ClickHouseClient, day: Day): Promise<void> {
  for (let afterId = 0; ; ) {
    const page = await database.read(tx => tx.usageHistory.listSeries(day, afterId, seriesPerPage))
    if (page.length === 0) return
    for (const { id, calls: _, users: __, ...series } of page) {
      const users = await database.read(tx => tx.usageHistory.listUsers(id))
      if (users.length > 0) await client.insert(tables.usersInput, [{ ...series, users }])
    }
    // After the users, so that equal totals mean that all of it is copied.
    await client.insert(
      tables.usage,
      page.map(({ id: _, users, ...series }) => ({ ...series, block: migratedBlock, migrated_users: users })),
    )
    afterId = page.at(-1)?.id ?? afterId
  }
}
