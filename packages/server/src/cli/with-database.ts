import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { shownDatabase } from '../settings/database-url.ts'
import { migrations } from '../storage/migrations/all-migrations.ts'
import { migrate, NewerDatabaseError, refuseOtherSchema, schemaVersion } from '../storage/migrations/migrate.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { notifyChanges } from '../storage/postgres/postgres-notify.ts'
import { createSqlDatabase } from '../storage/sql-database.ts'
import { type MainDatabase, sqlStores } from '../stores.ts'
import { CommandError } from './usage.ts'

type Work<T> = (database: MainDatabase, storage: Storage, config: Config) => Promise<T>

interface Options {
  /**
   * `existing` (default): a Halyard database with the schema of this program. `any-version`: an existing one of any schema version.
   * `create`: created and migrated as needed.
   */
  readonly database?: 'existing' | 'any-version' | 'create'
}

/**
 * Runs a command on the configured main database, beside a running server or without one. Servers learn of changes from the change log. A
 * database of persons is not opened: it may be away, or belong to another installation.
 */
export async function withDatabase<T>(work: Work<T>, { database = 'existing' }: Options = {}): Promise<T> {
  const config = readConfig(process.env)
  if (database !== 'create') refuseMissingFile(config.databaseUrl)
  const storage = openStorage(config.databaseUrl)
  try {
    if (database === 'create') await migrate(storage.kysely, storage.dialect)
    else await checkSchema(storage, config.databaseUrl, database === 'existing')
    const main = createSqlDatabase(storage, sqlStores, async () => {
      if (storage.pool) await notifyChanges(storage.pool)
    })
    return await work(main, storage, config)
  } finally {
    await storage.close()
  }
}

/** Opening a SQLite file creates it. A command that only reads must not: its result would look like an empty installation. */
export function refuseMissingFile(databaseUrl: string, setting = 'DATABASE_URL'): void {
  if (!databaseUrl.startsWith('sqlite:')) return
  const path = resolve(databaseUrl.slice('sqlite:'.length))
  if (existsSync(path) && statSync(path).size > 0) return
  throw new CommandError(
    `There is no database at ${path}. Run this in Halyard's folder, or set ${setting} to the one that the server uses.`,
  )
}

async function checkSchema(storage: Storage, databaseUrl: string, isCurrentNeeded: boolean): Promise<void> {
  await storage.ping()
  const newestVersion = migrations.at(-1)?.version ?? 0
  const version = await schemaVersion(storage.kysely).catch(() => 0)
  if (version === 0)
    throw new CommandError(
      `${shownDatabase(databaseUrl)} is not a Halyard database. Start Halyard once, or check DATABASE_URL.`,
    )
  if (isCurrentNeeded) await refuseOtherSchema(storage.kysely, migrations)
  if (version > newestVersion) throw new NewerDatabaseError(version, newestVersion)
  if (isCurrentNeeded && version < newestVersion)
    throw new CommandError(
      `The schema has version ${version} and this program needs ${newestVersion}. Run: halyard migrate`,
    )
}
