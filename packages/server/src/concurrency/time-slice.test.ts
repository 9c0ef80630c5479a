import { Kysely } from 'kysely'
import { expect, it } from 'vitest'
import { openSqlite } from '../storage/sqlite/sqlite-connection.ts'
import { sqliteDialect, sqliteWriterDialect } from '../storage/sqlite/sqlite-driver.ts'
import { createTestDatabase } from '../testing/databases.ts'

/** Without a pause this many take many times as long as statements may follow one another. */
const statementsMax = 200_000

it.each([
  ['reads', sqliteDialect],
  ['writes', sqliteWriterDialect],
])('lets others have their turn, however often somebody %s in a row', async (_what, dialectOf) => {
  const database = await createTestDatabase('sqlite')
  const db = new Kysely<{ notes: { text: string } }>({
    dialect: dialectOf(openSqlite(database.url.slice('sqlite:'.length))),
  })
  try {
    await db.schema.createTable('notes').addColumn('text', 'text').execute()
    await db.transaction().execute(async tx => {
      let wereOthersHeard = false
      setImmediate(() => {
        wereOthersHeard = true
      })
      let count = 0
      while (!wereOthersHeard && count < statementsMax) {
        await tx.selectFrom('notes').selectAll().execute()
        count += 1
      }
      expect(wereOthersHeard).toBe(true)
    })
  } finally {
    await db.destroy()
    await database.drop()
  }
})
