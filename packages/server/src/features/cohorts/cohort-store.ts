import type { CohortDefinition } from '@halyard/engine'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Cohort } from './cohort.ts'

export interface CohortFilter {
  /** Part of the name, in any case. */
  readonly search?: string
  readonly isStatic?: boolean
  readonly deleted: boolean
}

export interface CohortStore {
  create(cohort: Omit<Cohort, 'id' | 'calculation'>): Promise<Cohort>
  /** Saves the content of the cohort whose version is one above the stored one. Raises StaleWrite when it is not. */
  save(cohort: Cohort): Promise<void>
  find(projectId: number, cohortId: number): Promise<Cohort | undefined>
  /** Live cohorts by id; what does not exist is left out. */
  findLive(projectId: number, cohortIds: readonly number[]): Promise<readonly Cohort[]>
  /** Newest first. */
  list(projectId: number, filter: CohortFilter, window: Window): Promise<PageOf<Cohort>>
  /** How counting or filling ended: with an error, or well and with this count. */
  saveCalculation(
    cohortId: number,
    end: { readonly count?: number; readonly at: Instant; readonly error: string | null },
  ): Promise<void>
  /** Live dynamic cohorts of all projects that were never counted, or last before an instant, and are not about to be. */
  listDynamicNotCounted(since: Instant, limit: number): Promise<readonly number[]>
  /** Every live cohort of the project as the engine takes it, by id. */
  listDefinitions(projectId: number): Promise<readonly CohortDefinition[]>
}
