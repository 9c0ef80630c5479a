import type { ImportItem, ImportSource, ImportStatus } from '@halyard/migrate/model'
import type { Definition, Drift, LinkHashes } from '@halyard/migrate/plan/drift'
import type { Instant } from '../../instant.ts'
import type { User } from '../../tenancy.ts'

/** A file of another service as it would be imported. */
export interface ImportPlan {
  readonly id: number
  readonly organizationId: string
  readonly source: ImportSource
  readonly targets: readonly ImportTarget[]
  /** The name of the environment set that is created for targets without a project. */
  readonly newEnvironmentSet: string | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly appliedAt: Instant | null
}

export interface ImportTarget {
  /** Null until the project is created. */
  readonly projectId: number | null
  /** The environment in the file. */
  readonly environment: string | null
  /** The environment in the set, when the import is into one. */
  readonly name: string | null
  /** The names of the group types that the import creates. A node of an older version writes none. */
  readonly newGroupTypes?: readonly string[]
  /** Archived flags of the file that are left out. */
  readonly archived?: number
}

export type Outcome = 'created' | 'updated' | 'unchanged' | 'skipped'

export interface PlannedItem extends ImportItem {
  /** In the order in which items are imported. */
  readonly position: number
  /** Index in the plan's targets. */
  readonly target: number
  readonly projectId: number | null
  readonly drift: Drift
  /** Null when refused. */
  readonly definition: Definition | null
  readonly outcome: Outcome | null
}

/** Which flag or cohort came from an item of another service. */
export interface ImportLink extends LinkHashes {
  readonly kind: ImportItem['kind']
  readonly sourceId: string
  readonly flagId: number | null
  readonly cohortId: number | null
}

export interface ItemFilter {
  readonly status?: ImportStatus
  readonly projectId?: number
  readonly target?: number
  /** Part of the key in the file. */
  readonly search?: string
}

/** An item with what it became. */
export interface ListedItem extends Omit<PlannedItem, 'definition'> {
  readonly flagId: number | null
  readonly cohortId: number | null
}

export interface ItemCount {
  readonly target: number
  readonly status: ImportStatus
  readonly outcome: Outcome | null
  readonly count: number
}
