import { type Dialect, Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { DialectName } from './migrations/migration.ts'
import { postgresDialect } from './postgres/postgres-driver.ts'
import { openPostgresPool, poolConnectionsMax } from './postgres/postgres-pool.ts'
import { openSqlite, type SqliteHandle } from './sqlite/sqlite-connection.ts'
import { sqliteDialect, sqliteWriterDialect } from './sqlite/sqlite-driver.ts'
import { openSqliteFile, type SqliteFileRole } from './sqlite/sqlite-file.ts'
import { createStorageHealth, type StorageHealthRecorder } from './storage-health.ts'
import type { Tables } from './tables.generated.ts'

export interface Storage {
  readonly dialect: DialectName
  readonly kysely: Kysely<Tables>
  /** For reads: over SQLite a connection of its own, which does not wait for writers. */
  readonly reader: Kysely<Tables>
  /** Where the SQLite file lies; undefined for PostgreSQL. */
  readonly sqlite: { readonly path: string; readonly handle: SqliteHandle } | undefined
  readonly pool: pg.Pool | undefined
  /** Concurrent write transactions; further ones wait without a connection. */
  readonly writersMax: number
  /** How the last writes went; `/_readyz` and metrics read it. */
  readonly health: StorageHealthRecorder
  /** How large the database is. */
  sizeBytes(): Promise<number>
  /** Resolves when the database responds; throws when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface StorageOptions {
  /** Reports a broken idle connection; the pool opens a new one automatically. */
  readonly onConnectionError?: (error: Error) => void
  /** PostgreSQL only: a statement that takes longer is canceled. */
  readonly statementMillisecondsMax?: number | undefined
  /** SQLite only: which of the two databases it is, for messages. */
  readonly file?: SqliteFileRole
  /** Lets tests intercept statements between Kysely and the driver. */
  readonly wrapDialect?: (dialect: Dialect) => Dialect
}

export function openStorage(url: string, options: StorageOptions = {}): Storage {
  const wrap = options.wrapDialect ?? (dialect => dialect)
  if (url.startsWith('sqlite:')) return openSqliteStorage(url.slice('sqlite:'.length), wrap, options.file)
  return openPostgresStorage(url, options, wrap)
}

function openSqliteStorage(path: string, wrap: (dialect: Dialect) => Dialect, file?: SqliteFileRole): Storage {
  const handle = openSqliteFile(path, file)
  const open = (dialect: Dialect) => new Kysely<Tables>({ dialect: wrap(dialect) })
  // A database in memory is visible to its one connection only.
  const isInMemory = path === ':memory:'
  const kysely = open(isInMemory ? sqliteDialect(handle) : sqliteWriterDialect(handle))
  const readerHandle = isInMemory ? handle : openSqlite(path, { readOnly: true })
  const reader = isInMemory ? kysely : open(sqliteDialect(readerHandle))
  return {
    dialect: 'sqlite',
    kysely,
    reader,
    sqlite: { path, handle },
    pool: undefined,
    health: createStorageHealth(),
    // The driver serializes them, and they do not block reads.
    writersMax: Number.POSITIVE_INFINITY,
    ...lifeOf(reader, touchFile, sqliteSize),
    async close() {
      if (!isInMemory) await reader.destroy()
      await kysely.destroy()
      for (const one of [readerHandle, handle]) closeUnlessClosed(one)
    },
  }
}

/** Kysely closes only connections that were used, and an open file looks like a running server. */
function closeUnlessClosed(handle: SqliteHandle): void {
  try {
    handle.close()
  } catch (error) {
    if (!/not open/.test((error as Error).message)) throw error
  }
}

function openPostgresStorage(
  url: string,
  { onConnectionError = () => {}, statementMillisecondsMax }: StorageOptions,
  wrap: (dialect: Dialect) => Dialect,
): Storage {
  const pool = openPostgresPool(url, onConnectionError, statementMillisecondsMax)
  const kysely = new Kysely<Tables>({ dialect: wrap(postgresDialect(pool, statementMillisecondsMax)) })
  return {
    dialect: 'postgres',
    kysely,
    reader: kysely,
    sqlite: undefined,
    pool,
    health: createStorageHealth(),
    writersMax: poolConnectionsMax - connectionsForReaders,
    ...lifeOf(kysely, 'select 1', postgresSize),
  }
}

const connectionsForReaders = 3

/** SQLite runs `select 1` without reading its file; this one reads it. */
const touchFile = 'select count(*) from sqlite_master'

const sqliteSize = 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()'
const postgresSize = 'select pg_database_size(current_database()) as bytes'

const lifeOf = (kysely: Kysely<Tables>, question: string, size: string) => ({
  ping: async () => {
    await sql.raw(question).execute(kysely)
  },
  async sizeBytes() {
    const { rows } = await sql.raw<{ bytes: number }>(size).execute(kysely)
    return Number(rows[0]?.bytes)
  },
  close: () => kysely.destroy(),
})
