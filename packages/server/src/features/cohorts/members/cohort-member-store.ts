import type { Window } from '../../../pagination.ts'

/** Members of static cohorts. */
export interface CohortMemberStore {
  /** The subset of these cohorts that contain the person. */
  holding(personId: number, cohortIds: readonly number[]): Promise<ReadonlySet<number>>
  /** Adds persons of the project and returns how many are new. Persons that do not exist are skipped. */
  add(projectId: number, cohortId: number, personIds: readonly number[]): Promise<number>
  /** Returns how many were members. */
  remove(cohortId: number, personIds: readonly number[]): Promise<number>
  /** Moves memberships when two persons are merged. */
  move(fromPersonId: number, toPersonId: number): Promise<void>
  /** Removes a person from all cohorts and returns their ids. */
  removePerson(projectId: number, personId: number): Promise<readonly number[]>
  /** Person ids, newest first; `search` matches part of a distinct id or of a property. */
  list(cohortId: number, search: string | undefined, window: Window): Promise<readonly number[]>
  /** Person ids by distinct id; distinct ids without a person are not in the map. */
  findPersons(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Person ids by UUID. */
  findPersonsByUuid(projectId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
