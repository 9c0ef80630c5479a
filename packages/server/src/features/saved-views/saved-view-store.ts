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

/** What users keep about the flag list of a project. */
export interface SavedViewStore {
  /** The user's own and the shared ones, by name. */
  list(projectId: number, userId: number): Promise<readonly SavedView[]>
  find(projectId: number, id: number): Promise<SavedView | undefined>
  /** Raises `invalid` when the user has a view of this name, or too many. */
  create(projectId: number, view: Omit<SavedView, 'id'>): Promise<SavedView>
  remove(projectId: number, id: number): Promise<void>

  listFavorites(projectId: number, userId: number): Promise<readonly number[]>
  /** Raises `invalid` when the user has too many. */
  addFavorite(projectId: number, userId: number, flagId: number): Promise<void>
  removeFavorite(projectId: number, userId: number, flagId: number): Promise<void>
}
