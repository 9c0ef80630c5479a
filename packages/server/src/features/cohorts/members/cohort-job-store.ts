import type { Definitions } from '@halyard/engine'
import type { Instant } from '../../../instant.ts'

/** Work on a cohort that outlives the request that asked for it. */
export type CohortTask =
  /** How many people does a dynamic cohort hold? */
  | { readonly kind: 'count' }
  /** Put everybody into a static cohort for whom a flag is on, as the flag and all that it uses were when this was asked for. */
  | { readonly kind: 'fill'; readonly flagKey: string; readonly definitions: Definitions; readonly now: number }
  /** Look up the distinct ids that were sent, and put those who exist into a static cohort. */
  | { readonly kind: 'import' }

export interface CohortJob {
  readonly cohortId: number
  readonly projectId: number
  readonly task: CohortTask
  /** The last person that was looked at. */
  readonly position: number
  /** How many persons or distinct ids have been looked at, and how many of them belong in. */
  readonly processed: number
  readonly matched: number
  readonly total: number | null
  readonly attempts: number
  /** Another one whenever the work is asked for anew, so that what was under way before is found out. */
  readonly revision: string
}

export interface CohortJobStore {
  /** Replaces what the cohort had to do before. */
  put(job: Pick<CohortJob, 'cohortId' | 'task' | 'total' | 'revision'> & { readonly dueAt: Instant }): Promise<void>
  /** The one that has been due the longest. */
  findDue(now: Instant): Promise<CohortJob | undefined>
  find(cohortId: number): Promise<CohortJob | undefined>
  /** False when the work has been asked for anew or is gone. */
  advance(job: CohortJob): Promise<boolean>
  /** To be tried again later. */
  postpone(job: CohortJob, dueAt: Instant): Promise<void>
  /** False when the work has been asked for anew or is gone. */
  finish(job: CohortJob): Promise<boolean>
  remove(cohortId: number): Promise<void>

  addImport(cohortId: number, distinctIds: readonly string[]): Promise<void>
  /** The oldest piece of what is still to be looked up. */
  nextImport(cohortId: number): Promise<{ readonly id: number; readonly distinctIds: readonly string[] } | undefined>
  removeImport(id: number): Promise<void>
}
