import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import type { ScheduledChange, ScheduleStatus } from './scheduled-change.ts'

export interface ScheduleFilter {
  readonly flagId?: number
  readonly status?: ScheduleStatus
}

export interface ScheduleStore {
  create(change: Omit<ScheduledChange, 'id'>): Promise<ScheduledChange>
  /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
  save(change: ScheduledChange): Promise<void>
  remove(changeId: number): Promise<void>
  find(projectId: number, changeId: number): Promise<ScheduledChange | undefined>
  /** The other change of the pair. */
  findPartner(change: Pick<ScheduledChange, 'id' | 'projectId' | 'pairId'>): Promise<ScheduledChange | undefined>
  /** Ordered by scheduled time. */
  list(projectId: number, filter: ScheduleFilter, window: Window): Promise<PageOf<ScheduledChange>>
  /** Due changes of all projects, earliest due first. */
  listDue(now: Instant, limit: number): Promise<readonly ScheduledChange[]>
  countPending(projectId: number): Promise<number>
}
