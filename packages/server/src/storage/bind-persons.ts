import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { ExplainedError } from '../problem.ts'
import type { Storage } from './open-storage.ts'
import type { Tables } from './tables.generated.ts'

/** In the table `instance` of both databases: the persons of this installation are in that one. */
const bindingName = 'persons_database'

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
  if (persons && !(await isBound(main))) await bindTo(main, persons.kysely)
}

/** The same without the tie: raises PersonsElsewhereError, and writes nothing. */
export async function checkBinding(main: Kysely<Tables>, persons: Kysely<Tables> | undefined): Promise<void> {
  const bound = await bindingOf(main)
  if (!persons) {
    if (bound === undefined) return
    throw new PersonsElsewhereError(
      'The persons of this installation are in a database of their own. Set PERSONS_DATABASE_URL to it, as on the other nodes.',
    )
  }
  if (bound === undefined) {
    if (!(await holdsPersons(main))) return
    throw new PersonsElsewhereError(
      'PERSONS_DATABASE_URL is set, but the persons are still in the main database. Move them with `halyard migrate-persons`, or unset it.',
    )
  }
  if ((await bindingOf(persons)) === bound) return
  throw new PersonsElsewhereError(
    'PERSONS_DATABASE_URL is not the database that has the persons of this installation. Set it to that one.',
  )
}

/** From now on the persons are there. Two nodes that start at once agree on one. */
export async function bindTo(main: Kysely<Tables>, persons: Kysely<Tables>): Promise<void> {
  const value = await keep(persons, randomUUID())
  if ((await keep(main, value)) !== value)
    throw new PersonsElsewhereError(
      'The persons of this installation are in another database than PERSONS_DATABASE_URL.',
    )
}

async function keep(db: Kysely<Tables>, value: string): Promise<string> {
  await db
    .insertInto('instance')
    .values({ name: bindingName, value })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  return (await bindingOf(db))!
}

export const isBound = async (db: Kysely<Tables>): Promise<boolean> => (await bindingOf(db)) !== undefined

async function bindingOf(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db.selectFrom('instance').select('value').where('name', '=', bindingName).executeTakeFirst()
  return row?.value
}

async function holdsPersons(db: Kysely<Tables>): Promise<boolean> {
  for (const table of ['persons', 'groups'] as const) {
    if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) return true
  }
  return false
}
