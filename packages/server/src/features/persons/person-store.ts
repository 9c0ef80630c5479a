import type { PageOf, Window } from '../../pagination.ts'
import type { Person } from './person.ts'
import type { PersonDraft } from './person-ledger.ts'

export interface PersonFilter {
  readonly distinctId?: string
  /** Exactly this e-mail. */
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
  /** The persons behind these distinct ids; ids that are bound to nobody are not in the map. */
  findByDistinctIds(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, Person>>
  find(projectId: number, personId: number): Promise<Person | undefined>
  findByUuid(projectId: number, uuid: string): Promise<Person | undefined>
  /**
   * Writes what a ledger worked out, and answers which persons went into which others. Raises `StaleWrite` when somebody else changed one of
   * the persons or took an id in between.
   */
  write(projectId: number, drafts: readonly PersonDraft[]): Promise<readonly PersonMerge[]>
  /** With all its ids; what is counted stays. False when there was none. */
  remove(projectId: number, personId: number): Promise<boolean>

  count(projectId: number): Promise<number>
  /** Newest first. */
  list(projectId: number, filter: PersonFilter, window: Window): Promise<PageOf<Person>>
  /** In the order of ids, those after `afterId`, at most `limit`: for going through everybody in batches of short reads. */
  scan(projectId: number, afterId: number, limit: number): Promise<readonly Person[]>
  /**
   * Looks at a slice of the persons, newest first: those before `beforeId` (0 for the newest), `limit` of them. Answers which match, and
   * where the next slice begins; undefined when there is none. `search` is part of a distinct id or of the properties, in any case.
   */
  search(
    projectId: number,
    filter: PersonFilter & { readonly search: string | undefined },
    beforeId: number,
    limit: number,
  ): Promise<{ readonly matches: readonly Person[]; readonly lastId: number | undefined }>
  /** The distinct ids of each person, oldest binding first, at most `perPersonMax` each. */
  listDistinctIds(personIds: readonly number[], perPersonMax: number): Promise<ReadonlyMap<number, readonly string[]>>

  /** Hash keys of experience continuity of these persons. */
  listHashKeys(personIds: readonly number[]): Promise<readonly (HashKey & { readonly personId: number })[]>
  /** The first write of a flag's hash key wins; later ones change nothing. Ignores a person that is gone. */
  addHashKeys(personId: number, hashKeys: readonly HashKey[]): Promise<void>
}
