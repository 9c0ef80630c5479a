import type { Definitions } from '@halyard/engine'
import type { Instant } from '../../../instant.ts'

/** Background work on a cohort. */
export type CohortTask =
  /** Count the members of a dynamic cohort. */
  | { readonly kind: 'count' }
  /** Add every person who has a flag on to a static cohort. Uses the definitions as of the request. */
  | { readonly kind: 'fill'; readonly flagKey: string; readonly definitions: Definitions; readonly now: number }
  /** Look up the submitted distinct ids and add the persons found to a static cohort. */
  | { readonly kind: 'import' }

export interface CohortJob {
  readonly cohortId: number
  readonly projectId: number
  readonly task: CohortTask
  /** Id of the last person evaluated. */
  readonly position: number
  /** Number of persons or distinct ids processed, and how many of them match. */
  readonly processed: number
  readonly matched: number
  readonly total: number | null
  readonly attempts: number
  /** Changes with every new request, so that a superseded run can be detected. */
  readonly revision: string
}

export type NewCohortJob = Pick<CohortJob, 'cohortId' | 'task' | 'total' | 'revision'> & { readonly dueAt: Instant }
