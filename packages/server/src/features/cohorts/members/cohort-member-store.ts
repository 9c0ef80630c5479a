import type { Window } from '../../../pagination.ts'

/** Who is in the static cohorts. */
export interface CohortMemberStore {
  /** Which of these cohorts hold the person. */
  holding(personId: number, cohortIds: readonly number[]): Promise<ReadonlySet<number>>
  /** Adds persons of the project and answers how many are new; those that do not exist (any more) are left out. */
  add(projectId: number, cohortId: number, personIds: readonly number[]): Promise<number>
  /** Answers how many were in. */
  remove(cohortId: number, personIds: readonly number[]): Promise<number>
  /** What a merge does: whoever was in a cohort under the old person is in it under the new one. */
  move(fromPersonId: number, toPersonId: number): Promise<void>
  /** What removing a person does. */
  forget(projectId: number, personId: number): Promise<void>
  /** Person ids, newest first; `search` is part of a distinct id or of a property. */
  list(cohortId: number, search: string | undefined, window: Window): Promise<readonly number[]>
  /** The persons of the project with these distinct ids; ids that are bound to nobody are not in the map. */
  findPersons(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** The same by UUID. */
  findPersonsByUuid(projectId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
