import type { PageOf, Window } from '../../pagination.ts'
import type { Person } from './person.ts'
import type { PersonDraft } from './person-ledger.ts'

export interface PersonFilter {
  readonly distinctId?: string
  /** Exact match. */
  readonly email?: string
}

export interface PersonMerge {
  readonly fromId: number
  readonly intoId: number
}

export interface HashKey {
  readonly flagKey: string
  readonly hashKey: string
}

export interface PersonStore {
  /** The persons of these distinct ids; ids without a person are not in the map. */
  findByDistinctIds(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, Person>>
  find(projectId: number, personId: number): Promise<Person | undefined>
  findByUuid(projectId: number, uuid: string): Promise<Person | undefined>
  /**
   * Writes the drafts of a ledger and returns the merges. Throws `StaleWrite` when a concurrent transaction changed one of the persons or
   * bound one of the ids.
   */
  write(projectId: number, drafts: readonly PersonDraft[]): Promise<readonly PersonMerge[]>
  /** Removes the person with all its ids; usage counts stay. False when it does not exist. */
  remove(projectId: number, personId: number): Promise<boolean>

  count(projectId: number): Promise<number>
  /** Newest first. */
  list(projectId: number, filter: PersonFilter, window: Window): Promise<PageOf<Person>>
  /** Ordered by id, those after `afterId`, at most `limit`: to iterate over all persons in short reads. */
  scan(projectId: number, afterId: number, limit: number): Promise<readonly Person[]>
  /**
   * Searches `limit` persons before `beforeId` (0 for the newest), newest first. Returns the matches and where the next slice begins, or
   * undefined when there is none. `search` matches part of a distinct id or of the properties, case-insensitively.
   */
  search(
    projectId: number,
    filter: PersonFilter & { readonly search: string | undefined },
    beforeId: number,
    limit: number,
  ): Promise<{ readonly matches: readonly Person[]; readonly lastId: number | undefined }>
  /** The distinct ids of each person, oldest binding first, at most `perPersonMax` each. */
  listDistinctIds(personIds: readonly number[], perPersonMax: number): Promise<ReadonlyMap<number, readonly string[]>>

  /** The stored hash keys of these persons, for experience continuity. */
  listHashKeys(personIds: readonly number[]): Promise<readonly (HashKey & { readonly personId: number })[]>
  /** The first write of a flag's hash key wins; later ones change nothing. Ignores a person that no longer exists. */
  addHashKeys(personId: number, hashKeys: readonly HashKey[]): Promise<void>
}
