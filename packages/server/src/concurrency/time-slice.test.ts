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
])('yields to the event loop during a long series of %s', async (_what, dialectOf) => {
  const database = await createTestDatabase('sqlite')
  const db = new Kysely<{ notes: { text: string } }>({
    dialect: dialectOf(openSqlite(database.url.slice('sqlite:'.length))),
  })
  try {
    await db.schema.createTable('notes').addColumn('text', 'text').execute()
    await db.transaction().execute(async tx => {
      let hasYielded = false
      setImmediate(() => {
        hasYielded = true
      })
      let count = 0
      while (!hasYielded && count < statementsMax) {
        await tx.selectFrom('notes').selectAll().execute()
        count += 1
      }
      expect(hasYielded).toBe(true)
    })
  } finally {
    await db.destroy()
    await database.drop()
  }
})
