import { readConfig } from '../../config.ts'
import { migrate, schemaVersion } from '../../storage/migrations/migrate.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { printJson } from '../output.ts'

/** `halyard migrate`: creates or upgrades the schema. */
export async function migrateCommand(options: { readonly json?: boolean }): Promise<void> {
  const storage = openStorage(readConfig(process.env).databaseUrl)
  try {
    const applied = await migrate(storage.kysely, storage.dialect, {
      onWait: ({ step, attempts }) =>
        console.error(`"${step}" waits until requests release its tables (attempt ${attempts}); trying again.`),
    })
    const version = await schemaVersion(storage.kysely)
    if (options.json) return printJson({ applied, version })
    console.log(
      applied.length > 0 ? `Applied: ${applied.join(', ')}.` : 'The schema is up to date.',
      `Schema version ${version}.`,
    )
  } finally {
    await storage.close()
  }
}
