import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Group } from './group.ts'
import type { PropertyUpdate } from './properties.ts'

export interface GroupRef {
  readonly typeIndex: number
  readonly key: string
}

export interface GroupStore {
  /** Name → index, of the types that the project has. */
  listTypes(projectId: number): Promise<ReadonlyMap<string, number>>
  /**
   * The index of a type, given out on first use; undefined when all five are taken. Raises `StaleWrite` when somebody else took the
   * index in between. `isNew` says that the project has just changed and must be announced.
   */
  ensureType(projectId: number, name: string): Promise<{ index: number; isNew: boolean } | undefined>
  find(projectId: number, ref: GroupRef): Promise<Group | undefined>
  findMany(projectId: number, refs: readonly GroupRef[]): Promise<readonly Group[]>
  /** Creates or updates. Raises `StaleWrite` when somebody else did so in between. */
  update(projectId: number, ref: GroupRef, update: PropertyUpdate, at: Instant): Promise<void>
  /** False when there was none. */
  remove(projectId: number, ref: GroupRef): Promise<boolean>
  count(projectId: number, typeIndex: number): Promise<number>
  /** Newest first; `search` is part of the key or of a property. */
  list(projectId: number, typeIndex: number, search: string | undefined, window: Window): Promise<PageOf<Group>>
  /** In the order of ids, those after `afterId`, at most `limit`. */
  scan(projectId: number, typeIndex: number, afterId: number, limit: number): Promise<readonly Group[]>
}
