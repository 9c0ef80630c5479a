import type { Config } from '../../config.ts'
import { checkBinding } from '../../storage/bind-persons.ts'
import { schemaVersion } from '../../storage/migrations/migrate.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { personsMigrations } from '../../storage/persons-migrations/persons-migrations.ts'
import { openPersonsStorage } from '../../storage/persons-storage.ts'
import { DatabaseFileError } from '../../storage/sqlite/sqlite-file.ts'
import { refuseMissingFile } from '../with-database.ts'
import type { Finding } from './security-findings.ts'
import { bad, checkClock, checkIntegrity, good, otherSchemaFinding } from './storage-checks.ts'

/** Whether persons are where the settings say, and that database responds. Without the main database, only the latter. */
export async function personsFindings(
  { personsDatabaseUrl }: Config,
  main: Pick<Storage, 'kysely'> | undefined,
): Promise<readonly Finding[]> {
  if (personsDatabaseUrl === undefined) return bindingFindings(main, undefined)
  try {
    refuseMissingFile(personsDatabaseUrl, 'PERSONS_DATABASE_URL')
    const persons = openPersonsStorage(personsDatabaseUrl)
    try {
      await persons.ping()
      const other = await otherSchemaFinding(persons, personsMigrations)
      if (other) return [other]
      // One of another installation must not be upgraded.
      const foreign = await bindingFindings(main, persons)
      const [schema, file] = await storageFindings(persons)
      return [...(foreign.length > 0 && !schema.isGood ? [] : [schema]), file, ...foreign]
    } finally {
      await persons.close()
    }
  } catch (error) {
    if (error instanceof DatabaseFileError) return [bad(error.message)]
    return [bad(`The persons database: ${(error as Error).message} Check PERSONS_DATABASE_URL and that it is running.`)]
  }
}

async function storageFindings(persons: Storage): Promise<readonly [schema: Finding, file: Finding]> {
  const version = await schemaVersion(persons.kysely).catch(() => 0)
  const expected = personsMigrations.at(-1)!.version
  const schema =
    version === expected
      ? good(`The ${persons.dialect} persons database responds; its schema has version ${version}.`)
      : bad(
          `The persons database has schema version ${version}; this program expects ${expected}. ${
            version > expected ? 'Start the newer Halyard.' : 'Run: halyard migrate (every start does it as well).'
          }`,
        )
  const name = 'persons database'
  return [schema, persons.sqlite ? await checkIntegrity(persons, name) : await checkClock(persons, `the ${name}`)]
}

const bindingFindings = (
  main: Pick<Storage, 'kysely'> | undefined,
  persons: Pick<Storage, 'kysely'> | undefined,
): Promise<readonly Finding[]> =>
  main === undefined
    ? Promise.resolve([])
    : checkBinding(main.kysely, persons?.kysely).then(
        () => [],
        error => [bad((error as Error).message)],
      )
