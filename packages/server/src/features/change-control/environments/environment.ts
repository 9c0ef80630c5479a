import type { Instant } from '../../../instant.ts'
import type { User } from '../../../tenancy.ts'

/** Projects that are environments of the same application. Evaluation does not depend on it. */
export interface EnvironmentSet {
  readonly id: number
  readonly organizationId: string
  readonly name: string
  /** In their order. */
  readonly environments: readonly Environment[]
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

export interface Environment {
  readonly projectId: number
  readonly name: string
  readonly isProduction: boolean
}
