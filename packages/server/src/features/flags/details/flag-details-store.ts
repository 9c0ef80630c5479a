import type { PageOf, Window } from '../../../pagination.ts'
import type { FlagComment, FlagDetails, FlagDetailsPatch } from './flag-details.ts'

export interface FlagDetailsStore {
  /** Undefined when nothing is stored. */
  find(projectId: number, flagId: number): Promise<FlagDetails | undefined>
  findMany(projectId: number, flagIds: readonly number[]): Promise<readonly FlagDetails[]>
  /** By flag id. */
  list(projectId: number, window: Window): Promise<PageOf<FlagDetails>>
  /** Writes only the fields of the patch, so that two requests never revert each other's. */
  save(projectId: number, flagId: number, patch: FlagDetailsPatch): Promise<void>

  addComment(projectId: number, comment: Omit<FlagComment, 'id'>): Promise<FlagComment>
  findComment(projectId: number, flagId: number, commentId: number): Promise<FlagComment | undefined>
  /** Newest first. */
  listComments(projectId: number, flagId: number, window: Window): Promise<PageOf<FlagComment>>
  removeComment(commentId: number): Promise<void>
}
