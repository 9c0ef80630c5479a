import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Group } from './group.ts'
import type { PropertyUpdate } from './properties.ts'

export interface GroupRef {
  readonly typeIndex: number
  readonly key: string
}

export interface GroupStore {
  /** The project's group types, name → index. */
  listTypes(projectId: number): Promise<ReadonlyMap<string, number>>
  /**
   * The index of a type, assigned on first use; undefined when all five are taken. Throws `StaleWrite` when a concurrent transaction took
   * the index. `isNew` means that the project has changed and the change must be announced.
   */
  ensureType(projectId: number, name: string): Promise<{ index: number; isNew: boolean } | undefined>
  find(projectId: number, ref: GroupRef): Promise<Group | undefined>
  findMany(projectId: number, refs: readonly GroupRef[]): Promise<readonly Group[]>
  /** Creates or updates. Throws `StaleWrite` on a concurrent change. */
  update(projectId: number, ref: GroupRef, update: PropertyUpdate, at: Instant): Promise<void>
  /** False when the group does not exist. */
  remove(projectId: number, ref: GroupRef): Promise<boolean>
  count(projectId: number, typeIndex: number): Promise<number>
  /** Newest first; `search` matches part of the key or of a property. */
  list(projectId: number, typeIndex: number, search: string | undefined, window: Window): Promise<PageOf<Group>>
  /** Ordered by id, those after `afterId`, at most `limit`. */
  scan(projectId: number, typeIndex: number, afterId: number, limit: number): Promise<readonly Group[]>
}
