import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { Mutex } from '../../concurrency/mutex.ts'
import { GroupCommitDriver } from './group-commit.ts'
import { SqliteConnection, type SqliteHandle } from './sqlite-connection.ts'

/** A database in memory, or a connection that only reads: one transaction after the other, each by itself. */
export const sqliteDialect = (handle: SqliteHandle): Dialect => dialectOf(() => new SingleConnectionDriver(handle))

/** The connection that writes to a file: transactions that meet share a commit. */
export const sqliteWriterDialect = (handle: SqliteHandle): Dialect => dialectOf(() => new GroupCommitDriver(handle))

const dialectOf = (createDriver: () => Driver): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createDriver,
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/**
 * Kysely over one synchronous connection. A connection is lent to one user at a time, so a transaction is never
 * interleaved with another's statements; statements are synchronous, so nobody waits long.
 */
class SingleConnectionDriver implements Driver {
  readonly #handle: SqliteHandle
  readonly #connection: SqliteConnection
  readonly #turns = new Mutex()

  constructor(handle: SqliteHandle) {
    this.#handle = handle
    this.#connection = new SqliteConnection(handle)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.take()
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#turns.give()
  }

  async beginTransaction(_connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    this.#connection.run(settings.accessMode === 'read only' ? 'begin' : 'begin immediate')
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit')
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.rollBack()
  }

  async destroy(): Promise<void> {
    this.#handle.close()
  }
}
