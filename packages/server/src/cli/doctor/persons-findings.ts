import type { Config } from '../../config.ts'
import { checkBinding } from '../../storage/bind-persons.ts'
import { schemaVersion } from '../../storage/migrations/migrate.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { personsMigrations } from '../../storage/persons-migrations/persons-migrations.ts'
import { openPersonsStorage } from '../../storage/persons-storage.ts'
import type { Finding } from './security-findings.ts'

/** Whether persons are where the settings say, and that database responds. */
export async function personsFindings(
  { personsDatabaseUrl }: Config,
  main: Pick<Storage, 'kysely'>,
): Promise<readonly Finding[]> {
  const bad = (error: unknown): Finding[] => [{ isGood: false, text: (error as Error).message }]
  if (personsDatabaseUrl === undefined) {
    return checkBinding(main.kysely, undefined).then(() => [], bad)
  }
  const persons = openPersonsStorage(personsDatabaseUrl)
  try {
    await persons.ping()
    const version = await schemaVersion(persons.kysely).catch(() => 0)
    const expected = personsMigrations.at(-1)!.version
    if (version !== expected)
      return bad(new Error(`The persons database has schema version ${version}; this program expects ${expected}.`))
    await checkBinding(main.kysely, persons.kysely)
    return [
      { isGood: true, text: `The ${persons.dialect} persons database responds; its schema has version ${version}.` },
    ]
  } catch (error) {
    const text = `The persons database: ${(error as Error).message} Check PERSONS_DATABASE_URL and that it is running.`
    return [{ isGood: false, text }]
  } finally {
    await persons.close()
  }
}
