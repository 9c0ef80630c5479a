import { readConfig } from '../../config.ts'
import { checkOwner } from '../../storage/bind-persons.ts'
import { migrate, schemaVersion } from '../../storage/migrations/migrate.ts'
import type { Migration } from '../../storage/migrations/migration.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'
import { personsMigrations } from '../../storage/persons-migrations/persons-migrations.ts'
import { openPersonsStorage } from '../../storage/persons-storage.ts'
import { printJson } from '../output.ts'

/** `halyard migrate`: creates or upgrades the schema, and that of the database of persons. */
export async function migrateCommand(options: { readonly json?: boolean }): Promise<void> {
  const { databaseUrl, personsDatabaseUrl } = readConfig(process.env)
  const main = openStorage(databaseUrl)
  const persons = personsDatabaseUrl === undefined ? undefined : openPersonsStorage(personsDatabaseUrl)
  try {
    await checkOwner(main, persons)
    const done = await migrateOne(main)
    const ofPersons = persons && (await migrateOne(persons, personsMigrations))
    if (options.json) return printJson({ ...done, ...(ofPersons && { persons: ofPersons }) })
    console.log(describe('schema', done))
    if (ofPersons) console.log(describe('schema of persons', ofPersons))
  } finally {
    await persons?.close()
    await main.close()
  }
}

interface Migrated {
  readonly applied: readonly string[]
  readonly version: number
}

async function migrateOne({ kysely, dialect }: Storage, steps?: readonly Migration[]): Promise<Migrated> {
  const applied = await migrate(kysely, dialect, {
    steps,
    onWait: ({ step, attempts }) =>
      console.error(`"${step}" waits until requests release its tables (attempt ${attempts}); trying again.`),
  })
  return { applied, version: await schemaVersion(kysely) }
}

const describe = (schema: string, { applied, version }: Migrated): string =>
  `${applied.length > 0 ? `Applied: ${applied.join(', ')}.` : `The ${schema} is up to date.`} ${schema.replace('s', 'S')} version ${version}.`
