import { type Dialect, Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { DialectName } from './migrations/migration.ts'
import { postgresDialect } from './postgres/postgres-driver.ts'
import { openPostgresPool, poolConnectionsMax } from './postgres/postgres-pool.ts'
import { openSqlite, type SqliteHandle } from './sqlite/sqlite-connection.ts'
import { sqliteDialect, sqliteWriterDialect } from './sqlite/sqlite-driver.ts'
import { openSqliteFile } from './sqlite/sqlite-file.ts'
import type { Tables } from './tables.ts'

export interface Storage {
  readonly dialect: DialectName
  readonly kysely: Kysely<Tables>
  /** For whoever only reads: over SQLite a connection of its own, on which nobody waits for writers. */
  readonly reader: Kysely<Tables>
  /** Where the SQLite file lies; undefined for PostgreSQL. */
  readonly sqlite: { readonly path: string; readonly handle: SqliteHandle } | undefined
  readonly pool: pg.Pool | undefined
  /** So many may write at once; the others wait outside, where they are in nobody's way. */
  readonly writersMax: number
  /** Answers when the database does; throws when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface StorageOptions {
  /** Reports a broken idle connection; the pool opens a new one by itself. */
  readonly onConnectionError?: (error: Error) => void
  /** PostgreSQL only: a statement that takes longer is ended. */
  readonly statementMillisecondsMax?: number | undefined
  /** Lets the test kit come between queries and driver. */
  readonly wrapDialect?: (dialect: Dialect) => Dialect
}

export function openStorage(url: string, options: StorageOptions = {}): Storage {
  const wrap = options.wrapDialect ?? (dialect => dialect)
  if (url.startsWith('sqlite:')) return openSqliteStorage(url.slice('sqlite:'.length), wrap)
  return openPostgresStorage(url, options, wrap)
}

function openSqliteStorage(path: string, wrap: (dialect: Dialect) => Dialect): Storage {
  const handle = openSqliteFile(path)
  const open = (dialect: Dialect) => new Kysely<Tables>({ dialect: wrap(dialect) })
  // Nobody but its one connection can see a database that is in memory.
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
    // They take turns by themselves, and keep nobody from reading.
    writersMax: Number.POSITIVE_INFINITY,
    ...lifeOf(reader, touchFile),
    async close() {
      if (!isInMemory) await reader.destroy()
      await kysely.destroy()
      for (const one of [readerHandle, handle]) closeUnlessClosed(one)
    },
  }
}

/** Kysely closes only what was used. Who has the file open, though, keeps others from knowing that it is free. */
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
    writersMax: poolConnectionsMax - connectionsForReaders,
    ...lifeOf(kysely, 'select 1'),
  }
}

const connectionsForReaders = 3

/** SQLite answers `select 1` without its file; this makes it look. */
const touchFile = 'select count(*) from sqlite_master'

const lifeOf = (kysely: Kysely<Tables>, question: string) => ({
  ping: async () => {
    await sql.raw(question).execute(kysely)
  },
  close: () => kysely.destroy(),
})
