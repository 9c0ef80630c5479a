import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { User } from '../../tenancy.ts'
import type { Tile } from './tile.ts'

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
  readonly tags: readonly unknown[]
  /** What somebody has put on it, beside the usage of its flag. */
  readonly tiles: readonly Tile[]
  readonly createdBy: User
  readonly createdAt: Instant
}

export type DashboardPatch = {
  readonly [Field in 'name' | 'description' | 'isPinned' | 'isDeleted' | 'isEnriched' | 'tags' | 'tiles']?:
    | Dashboard[Field]
    | undefined
}

export interface DashboardStore {
  create(dashboard: Omit<Dashboard, 'id'>): Promise<Dashboard>
  setFlag(dashboardId: number, flagId: number): Promise<void>
  /** Changes only what the patch holds. */
  update(dashboardId: number, patch: DashboardPatch): Promise<void>
  find(projectId: number, dashboardId: number): Promise<Dashboard | undefined>
  /** Live ones, by name. */
  list(projectId: number, filter: { readonly search?: string }, window: Window): Promise<PageOf<Dashboard>>
  /** Which of these ids are dashboards of the project, deleted ones left out. */
  existing(projectId: number, ids: readonly number[]): Promise<ReadonlySet<number>>
}
