import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { ScheduledChange, ScheduleStatus } from './scheduled-change.ts'

export interface ScheduleFilter {
  readonly flagId?: number
  readonly status?: ScheduleStatus
}

export interface ScheduleStore {
  create(change: Omit<ScheduledChange, 'id'>): Promise<ScheduledChange>
  /** Saves the change whose version is one above the stored one. Raises StaleWrite when it is not. */
  save(change: ScheduledChange): Promise<void>
  remove(changeId: number): Promise<void>
  find(projectId: number, changeId: number): Promise<ScheduledChange | undefined>
  /** By the time for which they were planned. */
  list(projectId: number, filter: ScheduleFilter, window: Window): Promise<PageOf<ScheduledChange>>
  /** Pending changes of all projects that are due, the longest waiting first. */
  listDue(now: Instant, limit: number): Promise<readonly ScheduledChange[]>
  countPending(projectId: number): Promise<number>
}
