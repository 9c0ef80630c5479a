import type { CohortDefinition } from '@halyard/engine'
import type { Authorization } from '../../domain/authorization.ts'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Cohort } from './cohort.ts'

export interface CohortFilter {
  /** Part of the name, case-insensitive. */
  readonly search?: string
  readonly isStatic?: boolean
  readonly deleted: boolean
}

export interface CohortStore {
  create(cohort: Omit<Cohort, 'id' | 'calculation'>): Promise<Cohort>
  /** In the order of the cohorts. */
  createAll(cohorts: readonly Omit<Cohort, 'id' | 'calculation'>[]): Promise<readonly Cohort[]>
  /** Saves the content. Throws `StaleWrite` unless the version is exactly one above the stored one. */
  save(cohort: Cohort, authorization: Authorization): Promise<void>
  find(projectId: number, cohortId: number): Promise<Cohort | undefined>
  /** Whether a live cohort has a filter on a flag. */
  anyRefersToFlags(projectId: number): Promise<boolean>
  /** Cohorts by id, without deleted and unknown ones. */
  findLive(projectId: number, cohortIds: readonly number[]): Promise<readonly Cohort[]>
  /** Newest first. */
  list(projectId: number, filter: CohortFilter, window: Window): Promise<PageOf<Cohort>>
  /** Stores the result of counting or filling: an error, or success with this count. */
  saveCalculation(
    cohortId: number,
    end: { readonly count?: number; readonly at: Instant; readonly error: string | null },
  ): Promise<void>
  /** Dynamic cohorts of all projects last counted before an instant, or never, and without a queued job. Not deleted ones. */
  listDynamicNotCounted(since: Instant, limit: number): Promise<readonly number[]>
  /** Definitions of all cohorts of the project that are not deleted, ordered by id. */
  listDefinitions(projectId: number): Promise<readonly CohortDefinition[]>
}
