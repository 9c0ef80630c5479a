import type { Instant } from '../../instant.ts'
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
