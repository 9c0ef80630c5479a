import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Dialect, Kysely, sql } from 'kysely'
import type pg from 'pg'
import type { DialectName } from './migration.ts'
import { openPostgresPool, postgresDialect } from './postgres-driver.ts'
import { openSqlite, type SqliteHandle, sqliteDialect } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'

export interface Storage {
  readonly dialect: DialectName
  readonly kysely: Kysely<Tables>
  /** Where the SQLite file lies; undefined for PostgreSQL. */
  readonly sqlite: { readonly path: string; readonly handle: SqliteHandle } | undefined
  readonly pool: pg.Pool | undefined
  /** Answers when the database does; throws when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface StorageOptions {
  /** Reports a broken idle connection; the pool opens a new one by itself. */
  readonly onConnectionError?: (error: Error) => void
  /** Lets the test kit come between queries and driver. */
  readonly wrapDialect?: (dialect: Dialect) => Dialect
}

export function openStorage(url: string, options: StorageOptions = {}): Storage {
  const wrap = options.wrapDialect ?? (dialect => dialect)
  if (url.startsWith('sqlite:')) return openSqliteStorage(url.slice('sqlite:'.length), wrap)
  return openPostgresStorage(url, options.onConnectionError ?? (() => {}), wrap)
}

function openSqliteStorage(path: string, wrap: (dialect: Dialect) => Dialect): Storage {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  const handle = openSqlite(path)
  const kysely = new Kysely<Tables>({ dialect: wrap(sqliteDialect(handle)) })
  return { dialect: 'sqlite', kysely, sqlite: { path, handle }, pool: undefined, ...lifeOf(kysely) }
}

function openPostgresStorage(
  url: string,
  onError: (error: Error) => void,
  wrap: (dialect: Dialect) => Dialect,
): Storage {
  const pool = openPostgresPool(url, onError)
  const kysely = new Kysely<Tables>({ dialect: wrap(postgresDialect(pool)) })
  return { dialect: 'postgres', kysely, sqlite: undefined, pool, ...lifeOf(kysely) }
}

const lifeOf = (kysely: Kysely<Tables>) => ({
  ping: async () => {
    await sql`select 1`.execute(kysely)
  },
  close: () => kysely.destroy(),
})
