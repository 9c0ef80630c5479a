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
  /** Tiles that users added, after the usage tiles of its flag. */
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
  /** As `create` and `setFlag`, with a statement for many dashboards. */
  createAll(dashboards: readonly Omit<Dashboard, 'id'>[]): Promise<readonly Dashboard[]>
  setFlags(projectId: number, flagIds: readonly number[]): Promise<void>
  /** Updates only the fields in the patch. */
  update(dashboardId: number, patch: DashboardPatch): Promise<void>
  find(projectId: number, dashboardId: number): Promise<Dashboard | undefined>
  /** Without deleted dashboards, ordered by name. */
  list(projectId: number, filter: { readonly search?: string }, window: Window): Promise<PageOf<Dashboard>>
  /** The subset of these ids that are dashboards of the project and not deleted. */
  existing(projectId: number, ids: readonly number[]): Promise<ReadonlySet<number>>
}
