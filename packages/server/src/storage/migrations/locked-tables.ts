import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import { type Migration, schemaBuilder } from './migration.ts'

/** Weaker locks, as of writes, do not conflict with requests. */
export type TableLock = 'access exclusive' | 'share row exclusive'

/**
 * The tables that a step locks on PostgreSQL, by name. The step runs without a database, and its statements are read: what depends on rows
 * is left out, since it takes the locks of ordinary writes.
 */
export async function lockedTables(step: Migration): Promise<ReadonlyMap<string, TableLock>> {
  const statements: string[] = []
  const db = new Kysely({ dialect: recordingDialect(statements) })
  await step.up(schemaBuilder(db, 'postgres'))
  const locks = new Map<string, TableLock>()
  for (const [pattern, lock] of lockingStatements) {
    for (const statement of statements) {
      for (const [, table] of statement.matchAll(pattern)) locks.set(table!, lock)
    }
  }
  return new Map([...locks].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The stronger lock comes last, so that it wins. */
const lockingStatements: readonly (readonly [RegExp, TableLock])[] = [
  [/\breferences "?(\w+)"?/gi, 'share row exclusive'],
  [/^\s*create (?:unique )?index .*? on "?(\w+)"?/gi, 'share row exclusive'],
  [/^\s*lock table "?(\w+)"? in access exclusive/gi, 'access exclusive'],
  [/^\s*(?:alter|drop) table (?:if exists )?"?(\w+)"?/gi, 'access exclusive'],
]

const recordingDialect = (statements: string[]): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new RecordingDriver(statements),
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

/** Notes every statement and returns no rows. */
class RecordingDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(statements: string[]) {
    this.#connection = {
      async executeQuery({ sql }: CompiledQuery) {
        statements.push(sql)
        return { rows: [] }
      },
      // biome-ignore lint/correctness/useYield: migrations do not stream.
      async *streamQuery() {
        throw new Error('A migration reads in pages.')
      },
    }
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }
  async beginTransaction(): Promise<void> {}
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}
