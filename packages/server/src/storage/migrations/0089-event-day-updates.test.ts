import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../testing/databases.ts'
import { openStorage } from '../open-storage.ts'
import { personsMigrations } from '../persons-migrations/persons-migrations.ts'
import { migrations } from './all-migrations.ts'
import { migrate } from './migrate.ts'

onEachDatabase('pages of counts', dialect => {
  it.each([
    ['main database', migrations, 1],
    ['database of persons', personsMigrations, 16],
  ] as const)('have free space for updates in the %s, on PostgreSQL', async (_, steps, tables) => {
    const { url, drop } = await createTestDatabase(dialect, 'empty')
    const storage = openStorage(url)
    await migrate(storage.kysely, dialect, { steps })
    if (dialect === 'postgres') {
      const { rows } = await sql`select relname from pg_class where relname like 'person_event_days%'
        and reloptions @> '{fillfactor=80}'`.execute(storage.kysely)
      expect(rows).toHaveLength(tables)
    }
    await storage.close()
    await drop()
  })
})
