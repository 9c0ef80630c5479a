import { createRequire } from 'node:module'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { foldCase, foldFunction } from '../fold-case.ts'

/** The part of `node:sqlite` that we use; `@photostructure/sqlite` offers the same on Node 20. */
export interface SqliteHandle {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}
interface SqliteFunctions {
  function(name: string, options: { deterministic: boolean }, compute: (value: unknown) => unknown): void
}
interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}

const preparedStatementsMax = 400
/** How long a statement waits for a lock: it blocks the event loop, so it is short. */
const busyTimeoutMilliseconds = 5
const openTimeoutMilliseconds = 5000
/** Of each connection. A page that is not cached is read from the operating system's cache, which takes a microsecond. */
const cacheKilobytes = 1000
/** How long the write-ahead log grows before a checkpoint. A commit that triggers one takes three syncs instead of one, so it is to be rare. */
const logPagesMax = 4000

/** Opens a SQLite file so that an acknowledged write survives `kill -9` and a power cut. */
export function openSqlite(path: string, options: { readOnly?: boolean } = {}): SqliteHandle {
  const { DatabaseSync } = sqliteModule()
  const handle = new DatabaseSync(path, { readOnly: options.readOnly ?? false }) as SqliteHandle & SqliteFunctions
  try {
    handle.function(foldFunction, { deterministic: true }, text => (typeof text === 'string' ? foldCase(text) : text))
    handle.exec(`pragma busy_timeout = ${openTimeoutMilliseconds}`)
    if (!options.readOnly) handle.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = ${logPagesMax}`)
    handle.exec('pragma synchronous = full; pragma foreign_keys = on; pragma temp_store = memory')
    handle.exec(`pragma cache_size = -${cacheKilobytes}`)
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
  return isBuiltIn ? withoutWarning(() => require('node:sqlite')) : require('@photostructure/sqlite')
}

/** Node warns once that its SQLite module is experimental. We test every version that we support, so users need not see it. */
function withoutWarning<T>(load: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

const returnsRows = /^\s*(select|with|pragma|explain)\b|\breturning\b/i

/** One connection, through Kysely. Statements are synchronous and prepared once; a long series yields to the event loop. */
export class SqliteConnection implements DatabaseConnection {
  readonly #handle: SqliteHandle
  readonly #timeSlice = new TimeSlice()
  readonly #statements = new Map<string, { statement: SqliteStatement; isReader: boolean }>()

  constructor(handle: SqliteHandle) {
    this.#handle = handle
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const pause = this.#timeSlice.next()
    if (pause) await pause
    const { statement, isReader } = this.#prepare(query.sql)
    if (isReader) return { rows: statement.all(...query.parameters) as R[] }
    const { changes, lastInsertRowid } = statement.run(...query.parameters)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  /** Synchronously, for statements without parameters and rows: those that begin and end a transaction. */
  run(sql: string): void {
    this.#prepare(sql).statement.run()
  }

  rollBack(): void {
    try {
      this.run('rollback')
    } catch (error) {
      // After some failures (a full disk) SQLite has rolled back already; complaining would hide the first error.
      if (!/no transaction is active/.test((error as Error).message)) throw error
    }
  }

  // biome-ignore lint/correctness/useYield: streaming is part of Kysely's interface; one connection cannot be shared that long.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not offered on SQLite: read in pages.')
  }

  #prepare(sql: string): { statement: SqliteStatement; isReader: boolean } {
    const cached = this.#statements.get(sql)
    if (cached) return cached
    if (this.#statements.size >= preparedStatementsMax) this.#statements.clear()
    const prepared = { statement: this.#handle.prepare(sql), isReader: returnsRows.test(sql) }
    this.#statements.set(sql, prepared)
    return prepared
  }
}
