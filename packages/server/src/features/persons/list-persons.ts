import type { Person, PersonFilter } from '../../domain/person.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Database } from '../../stores.ts'

export interface PersonQuery extends PersonFilter {
  readonly search?: string
  readonly matches?: (person: Person) => boolean
}

/** Persons per read, so that other queries can run in between. */
const personsPerReadMax = 5000

/**
 * A page of persons, newest first. Filters without an index (substring, properties) iterate over all persons in short reads, so that a
 * search over a million persons does not block other queries.
 */
export async function listPersons(
  database: Database,
  projectId: number,
  query: PersonQuery,
  window: Window,
  signal: AbortSignal,
): Promise<PageOf<Person>> {
  const { search, matches, ...filter } = query
  if (search === undefined && !matches) return database.people.read(tx => tx.persons.list(projectId, filter, window))

  const items: Person[] = []
  let count = 0
  for (let beforeId: number | undefined = 0; beforeId !== undefined; ) {
    signal.throwIfAborted()
    const from: number = beforeId
    const slice = await database.people.read(tx =>
      tx.persons.search(projectId, { ...filter, search }, from, personsPerReadMax),
    )
    for (const person of slice.matches) {
      if (matches && !matches(person)) continue
      if (count >= window.offset && items.length < window.limit) items.push(person)
      count += 1
    }
    beforeId = slice.lastId
  }
  return { count, items }
}
