import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { retryDelay } from '../../concurrency/retry-delay.ts'
import { instantOf } from '../../instant.ts'
import { ExplainedError } from '../../problem.ts'
import { ifTableExists, isLockRefused } from '../driver-error.ts'
import { liftStatementLimit } from '../postgres/postgres-driver.ts'
import type { Tables } from '../tables.generated.ts'
import { migrations } from './all-migrations.ts'
import { lockedTables } from './locked-tables.ts'
import { type DialectName, type Migration, type SchemaBuilder, schemaBuilder } from './migration.ts'

/** Any number will do, as long as every Halyard uses the same. */
const migrationLock = 7_245_918_033

/**
 * Requests queue behind a table lock that is waited for, so they wait at most this long. It is below PostgreSQL's `deadlock_timeout` of a
 * second: in a deadlock the migration gives way, not a request.
 */
const lockMillisecondsMax = 500
const pauseMilliseconds = { first: 100, max: 5000 }
const waitMillisecondsMax = 15 * 60_000

export class NewerDatabaseError extends ExplainedError {
  constructor(stored: number, supported: number, database = 'database') {
    super(
      `The ${database} has schema version ${stored}, but this Halyard knows only ${supported}. ` +
        'It was opened by a newer Halyard: start that version, or restore a backup made before the upgrade.',
    )
    this.name = 'NewerDatabaseError'
  }
}

/** The settings name the main database and the one of persons the wrong way round, or twice the same. */
class OtherSchemaError extends ExplainedError {}

/** The first step of the schema of persons has this name, and no step of the main one is first with it. */
const firstStepOfPersons = 'persons'

const isForPersons = (steps: readonly Migration[]): boolean => steps[0]?.name === firstStepOfPersons

/** The steps of one schema would fail in the other, or believe that a newer program has made it. */
export async function refuseOtherSchema(db: Kysely<Tables>, steps: readonly Migration[]): Promise<void> {
  const first = await db
    .selectFrom('schema_migrations')
    .select('name')
    .where('version', '=', 1)
    .executeTakeFirst()
    .catch(ifTableExists)
  if (!first) return
  if ((first.name === firstStepOfPersons) === isForPersons(steps)) return
  throw new OtherSchemaError(
    isForPersons(steps)
      ? 'PERSONS_DATABASE_URL names a main database of Halyard. Set it to one of its own for persons.'
      : 'DATABASE_URL names a database of persons. Set it to the main database, and PERSONS_DATABASE_URL to this one.',
  )
}

/** A step gave way to requests or to another program, and will be tried again. */
export interface MigrationWait {
  readonly step: string
  readonly attempts: number
}

export interface MigrateOptions {
  readonly steps?: readonly Migration[] | undefined
  readonly onWait?: (wait: MigrationWait) => void
}

/**
 * Brings the schema up to date, each step in a transaction of its own with its row in `schema_migrations`. On PostgreSQL other nodes may
 * write meanwhile: a step locks its tables first, in order of their names, and is repeated when it does not get them in time. Several nodes
 * that start at once do each step once. Returns the names of the steps that were applied here.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: DialectName,
  { steps = migrations, onWait = () => {} }: MigrateOptions = {},
): Promise<readonly string[]> {
  await exclusively(db, dialect, createMigrationTable)
  await refuseOtherSchema(db, steps)
  const applied: string[] = []
  for (;;) {
    const step = await nextStep(db, steps)
    if (!step) return applied
    if (await applyPatiently(db, dialect, step, onWait)) applied.push(step.name)
  }
}

async function nextStep(db: Kysely<Tables>, steps: readonly Migration[]): Promise<Migration | undefined> {
  const current = await schemaVersion(db)
  const newest = steps.at(-1)?.version ?? 0
  if (current > newest)
    throw new NewerDatabaseError(current, newest, isForPersons(steps) ? 'persons database' : undefined)
  return steps.find(step => step.version > current)
}

/** Whether this node applied the step, and not another one in the meantime. */
async function applyPatiently(
  db: Kysely<Tables>,
  dialect: DialectName,
  step: Migration,
  onWait: (wait: MigrationWait) => void,
): Promise<boolean> {
  const deadline = performance.now() + waitMillisecondsMax
  for (let attempts = 1; ; attempts++) {
    try {
      return await exclusively(db, dialect, builder => applyStep(builder, dialect, step))
    } catch (error) {
      if (!isLockRefused(error)) throw error
      if (performance.now() > deadline) throw new MigrationBlockedError(step.name, error)
      onWait({ step: step.name, attempts })
      await delay(retryDelay(attempts, pauseMilliseconds))
    }
  }
}

async function applyStep(builder: SchemaBuilder, dialect: DialectName, step: Migration): Promise<boolean> {
  const tx = builder.db as Kysely<Tables>
  if ((await schemaVersion(tx)) >= step.version) return false
  if (dialect === 'postgres') await lockTables(tx, step)
  await step.up(builder)
  await tx
    .insertInto('schema_migrations')
    .values({ version: step.version, name: step.name, applied_at: instantOf(new Date()) })
    .execute()
  return true
}

async function lockTables(tx: Kysely<Tables>, step: Migration): Promise<void> {
  await sql.raw(`set local lock_timeout = ${lockMillisecondsMax}`).execute(tx)
  for (const [table, lock] of await lockedTables(step)) {
    const { rows } = await sql<{ exists: boolean }>`select to_regclass(${table}) is not null as exists`.execute(tx)
    // The others are created by the step itself.
    if (rows[0]?.exists) await sql.raw(`lock table "${table}" in ${lock} mode`).execute(tx)
  }
}

/** Runs in a transaction while no other node migrates. */
function exclusively<T>(
  db: Kysely<Tables>,
  dialect: DialectName,
  work: (builder: SchemaBuilder) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async tx => {
    if (dialect === 'postgres') {
      // A step on a grown table, or the other node's, may take longer than a request ever could.
      await sql.raw(liftStatementLimit).execute(tx)
      await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx)
    }
    return work(schemaBuilder(tx as unknown as SchemaBuilder['db'], dialect))
  })
}

async function createMigrationTable({ db, integer, text }: SchemaBuilder): Promise<void> {
  await db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('version', integer, column => column.primaryKey())
    .addColumn('name', text, column => column.notNull())
    .addColumn('applied_at', text, column => column.notNull())
    .execute()
}

export async function schemaVersion(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('schema_migrations')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst()
  return Number(row?.version ?? 0)
}

class MigrationBlockedError extends ExplainedError {
  constructor(step: string, cause: unknown) {
    super(
      `The migration "${step}" could not lock its tables for 15 minutes. ` +
        'End long transactions on the database, such as a backup, and start again: it continues with this step.',
      { cause },
    )
    this.name = 'MigrationBlockedError'
  }
}
