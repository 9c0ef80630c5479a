import { readConfig } from '../../config.ts'
import { migrate, schemaVersion } from '../../storage/migrations/migrate.ts'
import { openStorage } from '../../storage/open-storage.ts'

export async function migrateCommand(): Promise<void> {
  const storage = openStorage(readConfig(process.env).databaseUrl)
  try {
    const applied = await migrate(storage.kysely, storage.dialect)
    const version = await schemaVersion(storage.kysely)
    console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}.` : 'Nothing to do.', `Schema version ${version}.`)
  } finally {
    await storage.close()
  }
}
