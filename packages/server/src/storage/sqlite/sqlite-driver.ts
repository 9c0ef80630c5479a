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

/** A database in memory, or a connection that only reads: one transaction after the other. */
export const sqliteDialect = (handle: SqliteHandle): Dialect => dialectOf(() => new SingleConnectionDriver(handle))

/** The connection that writes to a file: concurrent transactions share a commit. */
export const sqliteWriterDialect = (handle: SqliteHandle): Dialect => dialectOf(() => new GroupCommitDriver(handle))

const dialectOf = (createDriver: () => Driver): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createDriver,
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/**
 * Kysely over one synchronous connection. It has one user at a time, so statements of two transactions are never interleaved; statements
 * are synchronous, so the wait is short.
 */
class SingleConnectionDriver implements Driver {
  readonly #handle: SqliteHandle
  readonly #connection: SqliteConnection
  readonly #mutex = new Mutex()

  constructor(handle: SqliteHandle) {
    this.#handle = handle
    this.#connection = new SqliteConnection(handle)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex.acquire()
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#mutex.release()
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
