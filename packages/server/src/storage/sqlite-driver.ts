import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'

/** The part of `node:sqlite` that we use; `@photostructure/sqlite` offers the same on Node 20. */
export interface SqliteHandle {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}
interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}

const preparedStatementsMax = 400
/** How long a writer waits for another process to finish, without blocking this one's event loop. */
const writeLockMillisecondsMax = 10_000
const writeLockRetryMilliseconds = 10
/** What a statement itself may wait for a lock: this does block, so it is short. */
const busyTimeoutMilliseconds = 5
const openTimeoutMilliseconds = 5000

/** Opens a SQLite file so that an acknowledged write survives `kill -9` and a power cut. */
export function openSqlite(path: string, options: { readOnly?: boolean } = {}): SqliteHandle {
  const { DatabaseSync } = sqliteModule()
  const handle = new DatabaseSync(path, { readOnly: options.readOnly ?? false }) as SqliteHandle
  try {
    handle.exec(`pragma busy_timeout = ${openTimeoutMilliseconds}`)
    if (!options.readOnly) handle.exec('pragma journal_mode = wal')
    handle.exec(
      'pragma synchronous = full; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -16000',
    )
    handle.exec(`pragma busy_timeout = ${busyTimeoutMilliseconds}`)
  } catch (error) {
    handle.close()
    throw error
  }
  return handle
}

function sqliteModule(): { DatabaseSync: new (path: string, options: { readOnly: boolean }) => unknown } {
  const require = createRequire(import.meta.url)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isBuiltIn = major > 22 || (major === 22 && minor >= 13)
  return require(isBuiltIn ? 'node:sqlite' : '@photostructure/sqlite')
}

/**
 * Kysely over one synchronous connection. A connection is lent to one user at a time, so a transaction is never
 * interleaved with another's statements; statements are synchronous, so nobody waits long.
 */
export function sqliteDialect(handle: SqliteHandle): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SingleConnectionDriver(handle),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class SingleConnectionDriver implements Driver {
  readonly #handle: SqliteHandle
  readonly #connection: DatabaseConnection
  readonly #waiting: (() => void)[] = []
  #isLent = false

  constructor(handle: SqliteHandle) {
    this.#handle = handle
    this.#connection = new SqliteConnection(handle)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isLent) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#isLent = true
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#isLent = false
  }

  /**
   * A writing transaction takes the write lock at once: one that starts by reading could not upgrade while another process writes. As long as
   * it has to wait for that process, others may use the connection.
   */
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const begin = CompiledQuery.raw(settings.accessMode === 'read only' ? 'begin' : 'begin immediate')
    const deadline = performance.now() + writeLockMillisecondsMax
    for (;;) {
      try {
        await connection.executeQuery(begin)
        return
      } catch (error) {
        if (!isLocked(error) || performance.now() > deadline) throw error
        await this.releaseConnection()
        await wait(Math.random() * writeLockRetryMilliseconds)
        await this.acquireConnection()
      }
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
    } catch (error) {
      // After some failures (a full disk) SQLite has rolled back already; complaining would hide the first error.
      if (!/no transaction is active/.test((error as Error).message)) throw error
    }
  }

  /** Moves everything from the write-ahead log into the file first: people copy the one file of a stopped server. */
  async destroy(): Promise<void> {
    try {
      this.#handle.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // Another process holds the file, or the disk is full: the log stays and nothing is lost.
    }
    this.#handle.close()
  }
}

const isLocked = (error: unknown): boolean => error instanceof Error && /database is locked/.test(error.message)

const returnsRows = /^\s*(select|with|pragma|explain)\b|\breturning\b/i

class SqliteConnection implements DatabaseConnection {
  readonly #handle: SqliteHandle
  readonly #statements = new Map<string, { statement: SqliteStatement; isReader: boolean }>()

  constructor(handle: SqliteHandle) {
    this.#handle = handle
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, isReader } = this.#prepare(query.sql)
    if (isReader) return { rows: statement.all(...query.parameters) as R[] }
    const { changes } = statement.run(...query.parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: streaming is part of Kysely's interface; one connection cannot be shared that long.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not offered on SQLite: read in pages.')
  }

  #prepare(sql: string): { statement: SqliteStatement; isReader: boolean } {
    const known = this.#statements.get(sql)
    if (known) return known
    if (this.#statements.size >= preparedStatementsMax) this.#statements.clear()
    const prepared = { statement: this.#handle.prepare(sql), isReader: returnsRows.test(sql) }
    this.#statements.set(sql, prepared)
    return prepared
  }
}
