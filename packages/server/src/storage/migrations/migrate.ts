import { type Kysely, sql } from 'kysely'
import { instantOf } from '../../instant.ts'
import { ExplainedError } from '../../problem.ts'
import { liftStatementLimit } from '../postgres/postgres-driver.ts'
import type { Tables } from '../tables.ts'
import { migrations } from './all-migrations.ts'
import { type DialectName, type Migration, type SchemaBuilder, schemaBuilder } from './migration.ts'

/** Any number will do, as long as every Halyard uses the same. */
const migrationLock = 7_245_918_033

export class NewerDatabaseError extends ExplainedError {
  constructor(found: number, known: number) {
    super(
      `The database has schema version ${found}, but this Halyard knows only ${known}. ` +
        'It was opened by a newer Halyard: start that version, or restore a backup made before the upgrade.',
    )
    this.name = 'NewerDatabaseError'
  }
}

/**
 * Brings the schema up to date in one transaction, under a lock: two nodes that start at once do it once.
 * Returns the names of the steps that were applied.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: DialectName,
  steps: readonly Migration[] = migrations,
): Promise<readonly string[]> {
  return db.transaction().execute(async tx => {
    if (dialect === 'postgres') {
      // A step on a grown table, or the other node's, may take longer than a request ever could.
      await sql.raw(liftStatementLimit).execute(tx)
      await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx)
    }
    const builder = schemaBuilder(tx as unknown as SchemaBuilder['db'], dialect)
    await tx.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('version', builder.integer, column => column.primaryKey())
      .addColumn('name', builder.text, column => column.notNull())
      .addColumn('applied_at', builder.text, column => column.notNull())
      .execute()
    const current = await schemaVersion(tx)
    const known = steps.at(-1)?.version ?? 0
    if (current > known) throw new NewerDatabaseError(current, known)
    const pending = steps.filter(step => step.version > current)
    for (const step of pending) {
      await step.up(builder)
      await tx
        .insertInto('schema_migrations')
        .values({ version: step.version, name: step.name, applied_at: instantOf(new Date()) })
        .execute()
    }
    return pending.map(step => step.name)
  })
}

export async function schemaVersion(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('schema_migrations')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst()
  return Number(row?.version ?? 0)
}
