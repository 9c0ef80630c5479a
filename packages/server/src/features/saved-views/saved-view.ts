import type { Instant } from '../../instant.ts'

export interface SavedView {
  readonly id: number
  readonly userId: number
  readonly name: string
  readonly query: string
  readonly isShared: boolean
  readonly createdAt: Instant
}

export const viewsPerUserMax = 100
export const favoritesPerUserMax = 1000
