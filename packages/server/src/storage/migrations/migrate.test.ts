import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, dialects, type TestDatabase } from '../../testing/databases.ts'
import { openStorage, type Storage } from '../open-storage.ts'
import { migrations } from './all-migrations.ts'
import { lockedTables } from './locked-tables.ts'
import { type MigrationWait, migrate } from './migrate.ts'
import type { Migration, SchemaBuilder } from './migration.ts'

describe.skipIf(!dialects.includes('postgres' as never))('a migration on PostgreSQL that others write to', () => {
  let database: TestDatabase
  let storage: Storage
  beforeEach(async () => {
    database = await createTestDatabase('postgres', 'empty')
    storage = openStorage(database.url)
  })
  afterEach(async () => {
    await storage.close()
    await database.drop()
  })

  const altering = (...tables: string[]): Migration => ({
    version: 9999,
    name: 'altering',
    async up({ run }) {
      for (const table of tables) await run(`alter table ${table} add column added text`)
    },
  })

  it('gives way to a transaction that holds one of its tables, and is repeated', async () => {
    await migrate(storage.kysely, 'postgres')
    const writer = new pg.Client({ connectionString: database.url })
    await writer.connect()
    await writer.query('begin')
    await writer.query('update users set first_name = first_name')
    const waits: MigrationWait[] = []
    try {
      const applied = await migrate(storage.kysely, 'postgres', {
        steps: [...migrations, altering('users', 'organizations')],
        onWait(wait) {
          waits.push(wait)
          // It holds no lock while it waits, so the transaction that it collided with can take the other table.
          void writer.query('update organizations set name = name').then(() => writer.query('commit'))
        },
      })
      expect(applied).toEqual(['altering'])
      expect(waits[0]).toEqual({ step: 'altering', attempts: 1 })
    } finally {
      await writer.end()
    }
  })

  it('locks each table that it alters or refers to before it changes anything', async () => {
    const missing: string[] = []
    const watched = migrations.map(step => ({
      ...step,
      async up(builder: SchemaBuilder) {
        const tables = await tableNames(builder)
        await step.up(builder)
        const announced = await lockedTables(step)
        for (const name of await strongLocks(builder)) {
          if (tables.has(name) && !announced.has(name)) missing.push(`${step.name}: ${name}`)
        }
      },
    }))
    await migrate(storage.kysely, 'postgres', { steps: watched })
    expect(missing).toEqual([])
  })

  it('locks tables in the order of their names, whatever the order of its statements', async () => {
    const step: Migration = {
      version: 9999,
      name: 'several',
      async up({ db, integer, run }) {
        await run('create index users_by_name on users (first_name)')
        await run('alter table flags add column added text')
        await db.schema
          .createTable('fresh')
          .addColumn('project_id', integer, c => c.references('projects.id'))
          .execute()
        await run('update cohorts set name = name')
      },
    }
    expect([...(await lockedTables(step))]).toEqual([
      ['flags', 'access exclusive'],
      ['projects', 'share row exclusive'],
      ['users', 'share row exclusive'],
    ])
  })
})

async function tableNames({ db }: SchemaBuilder): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db)
  return new Set(rows.map(row => row.name))
}

/** What this transaction holds that conflicts with writes. */
async function strongLocks({ db }: SchemaBuilder): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct relname as name from pg_locks join pg_class on pg_class.oid = relation
    where pid = pg_backend_pid() and relkind = 'r' and relnamespace = 'public'::regnamespace
      and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`.execute(db)
  return rows.map(row => row.name)
}
