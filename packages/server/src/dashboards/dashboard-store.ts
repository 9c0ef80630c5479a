import type { Instant } from '../instant.ts'
import type { User } from '../tenancy.ts'

export interface Dashboard {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly description: string
  readonly isPinned: boolean
  readonly isDeleted: boolean
  /** The flag whose usage it shows. */
  readonly flagId: number | null
  /** Shows views and interactions as well. */
  readonly isEnriched: boolean
  readonly createdBy: User
  readonly createdAt: Instant
}

export interface DashboardStore {
  create(dashboard: Omit<Dashboard, 'id'>): Promise<Dashboard>
  setFlag(dashboardId: number, flagId: number): Promise<void>
  /** Which of these ids are dashboards of the project, deleted ones left out. */
  existing(projectId: number, ids: readonly number[]): Promise<ReadonlySet<number>>
}
