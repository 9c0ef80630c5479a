import { type Config, readConfig } from '../config.ts'
import { migrate } from '../storage/migrations/migrate.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { notifyChanges } from '../storage/postgres/postgres-notify.ts'
import { createSqlDatabase } from '../storage/sql-database.ts'
import { sqlStores } from '../stores.sql.ts'
import type { Database } from '../stores.ts'

/** Runs a command on the configured database, beside a server or without one. Servers learn of changes by their change log. */
export async function withDatabase(
  work: (database: Database, storage: Storage, config: Config) => Promise<void>,
): Promise<void> {
  const config = readConfig(process.env)
  const storage = openStorage(config.databaseUrl)
  try {
    await migrate(storage.kysely, storage.dialect)
    const announce = async () => {
      if (storage.pool) await notifyChanges(storage.pool)
    }
    await work(createSqlDatabase(storage, sqlStores, announce), storage, config)
  } finally {
    await storage.close()
  }
}
