import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { ActivityEntry, ActivityScope, NewActivity } from './activity.ts'

export interface ActivityFilter {
  readonly organizationId: string
  readonly projectId?: number
  readonly scopes: readonly ActivityScope[]
  readonly itemId?: string
  /** Only entries about one of these items. */
  readonly items?: readonly { readonly scope: ActivityScope; readonly itemId: string }[]
  readonly userId?: number
  readonly activity?: string
  readonly entryId?: number
  readonly from?: Instant
  readonly to?: Instant
}

/** Append-only, apart from `removeBefore`. */
export interface ActivityStore {
  append(entry: NewActivity): Promise<void>
  appendAll(entries: readonly NewActivity[]): Promise<void>
  /** Removes the oldest entries, at most so many, and returns how many. */
  removeBefore(before: Instant, limit: number): Promise<number>
  /** Newest first. */
  list(filter: ActivityFilter, window: Window): Promise<PageOf<ActivityEntry>>
}
