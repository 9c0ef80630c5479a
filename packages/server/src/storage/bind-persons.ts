import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { ExplainedError } from '../problem.ts'
import { ifTableExists } from './driver-error.ts'
import { migrations } from './migrations/all-migrations.ts'
import { refuseOtherSchema } from './migrations/migrate.ts'
import type { Storage } from './open-storage.ts'
import { personsMigrations } from './persons-migrations/persons-migrations.ts'
import type { Tables } from './tables.generated.ts'

/** In the table `instance` of both databases: the persons of this installation are in that one. */
const bindingName = 'persons_database'

/** In the main database only: the value that it will have, so that a tie that was interrupted goes on, and no other installation fits. */
const offerName = 'persons_database_offer'

/** Persons would be written where no other node looks for them. */
export class PersonsElsewhereError extends ExplainedError {}

/**
 * Ties an installation to its database of persons, so that a node that is started without the setting, or with another one, refuses instead
 * of starting over with no persons. So does one whose main database still has persons.
 */
export async function bindPersons(
  { kysely: main }: Pick<Storage, 'kysely'>,
  persons: Pick<Storage, 'kysely'> | undefined,
): Promise<void> {
  await checkBinding(main, persons?.kysely)
  if (!persons || (await isBound(main))) return
  await bindTo(main, persons.kysely)
}

/** Before either is migrated: a database that is not this installation's stays as it is. Raises PersonsElsewhereError, and writes nothing. */
export async function checkOwner(
  { kysely: main }: Pick<Storage, 'kysely'>,
  persons: Pick<Storage, 'kysely'> | undefined,
): Promise<void> {
  await refuseOtherSchema(main, migrations)
  if (persons) await refuseOtherSchema(persons.kysely, personsMigrations)
  await checkBinding(main, persons?.kysely)
}

/** The same without the tie, also before the migrations: raises PersonsElsewhereError, and writes nothing. */
export async function checkBinding(main: Kysely<Tables>, persons: Kysely<Tables> | undefined): Promise<void> {
  if (!persons) {
    if (!(await isBound(main))) return
    throw new PersonsElsewhereError(
      'The persons of this installation are in a database of their own. Set PERSONS_DATABASE_URL to it, as on the other nodes.',
    )
  }
  // In this order: another node of this installation may tie and fill it at the same moment.
  const holdsSome = await holdsPersons(persons)
  const tie = await bindingOf(persons)
  const bound = await bindingOf(main)
  if (bound === undefined) {
    if (await holdsPersons(main))
      throw new PersonsElsewhereError(
        'PERSONS_DATABASE_URL is set, but the persons are still in the main database. Move them with `halyard migrate-persons`, or unset it.',
      )
    if (tie === undefined && holdsSome) throw new PersonsElsewhereError(takenMessage)
    return refuseTaken(main, persons)
  }
  if (tie === bound) return
  throw new PersonsElsewhereError(
    'PERSONS_DATABASE_URL is not the database that has the persons of this installation. Set it to that one.',
  )
}

/** Raises PersonsElsewhereError when the database of persons is tied to another installation. */
export async function refuseTaken(main: Kysely<Tables>, persons: Kysely<Tables>): Promise<void> {
  // In this order: the offer is there before the tie.
  const tie = await bindingOf(persons)
  if (tie !== undefined && tie !== (await storedValue(main, offerName))) throw new PersonsElsewhereError(takenMessage)
}

/** From now on the persons are there. Two nodes that start at once agree on one. */
export async function bindTo(main: Kysely<Tables>, persons: Kysely<Tables>): Promise<void> {
  const offer = await keep(main, offerName, randomUUID())
  if ((await keep(persons, bindingName, offer)) !== offer) throw new PersonsElsewhereError(takenMessage)
  await keep(main, bindingName, offer)
}

const takenMessage =
  'PERSONS_DATABASE_URL has the persons of another installation, or of a main database that was replaced since. Set it to an empty database.'

/** Returns the value that the name has from now on: this one, or an earlier one. */
async function keep(db: Kysely<Tables>, name: string, value: string): Promise<string> {
  await db
    .insertInto('instance')
    .values({ name, value })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  return (await storedValue(db, name))!
}

export const isBound = async (db: Kysely<Tables>): Promise<boolean> => (await bindingOf(db)) !== undefined

const bindingOf = (db: Kysely<Tables>): Promise<string | undefined> => storedValue(db, bindingName)

async function storedValue(db: Kysely<Tables>, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
    .catch(ifTableExists)
  return row?.value
}

async function holdsPersons(db: Kysely<Tables>): Promise<boolean> {
  for (const table of ['persons', 'groups'] as const) {
    if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst().catch(ifTableExists)) return true
  }
  return false
}
