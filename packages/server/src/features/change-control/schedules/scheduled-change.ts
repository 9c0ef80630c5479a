import type { FreeObject } from '../../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { User } from '../../../tenancy.ts'
import type { Operation } from './operation.ts'
import { isPaused, lastRun, nextRun, type ScheduleRecurrence } from './schedule-recurrence.ts'

export type ScheduleStatus = 'pending' | 'done' | 'failed'

export interface ScheduledChange {
  readonly id: number
  readonly projectId: number
  readonly flagId: number
  /** As submitted. */
  readonly payload: FreeObject
  /** The time of a recurring change is that of its next run. */
  readonly scheduledAt: Instant
  readonly recurrence: ScheduleRecurrence
  /** The two changes of a pair, such as on at 9 and off at 17, carry the same id. */
  readonly pairId: string | null
  /** The change request that approved it; null when it needed none. */
  readonly approval: { readonly changeRequest: number; readonly contentHash: string } | null
  readonly status: ScheduleStatus
  /** Number of applied steps of a ramp; other changes have one step. */
  readonly stepsDone: number
  /** When the next step or retry is due. */
  readonly dueAt: Instant
  /** Number of failures of the current step. */
  readonly attempts: number
  readonly failureReason: string | null
  /** When nothing was left to do. */
  readonly executedAt: Instant | null
  readonly lastExecutedAt: Instant | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

export const attemptsMax = 8
const firstBackoffMilliseconds = 60_000
const backoffMillisecondsMax = 60 * 60_000

/** Exponential backoff from a minute to an hour. Fails after the last attempt, or immediately when a retry cannot succeed. */
export function afterFailure(
  change: ScheduledChange,
  reason: string,
  { isFinal }: { readonly isFinal: boolean },
  now: Instant,
): ScheduledChange {
  const attempts = change.attempts + 1
  const isOver = isFinal || attempts >= attemptsMax
  // A run that failed does not end the schedule: the next run is another attempt.
  const next = isOver && change.recurrence.isRecurring ? nextRun(change.recurrence, now) : undefined
  if (next !== undefined) return { ...atRun(change, next, now), failureReason: reason }
  const backoff = Math.min(firstBackoffMilliseconds * 2 ** change.attempts, backoffMillisecondsMax)
  return {
    ...change,
    attempts,
    failureReason: reason,
    status: isOver ? 'failed' : 'pending',
    dueAt: plusMilliseconds(now, backoff),
    updatedAt: now,
    version: change.version + 1,
  }
}

/** Waits until a freeze ends; that is no failure. */
export const afterFreeze = (
  change: ScheduledChange,
  reason: string,
  until: Instant,
  now: Instant,
): ScheduledChange => ({
  ...change,
  failureReason: reason,
  dueAt: until,
  updatedAt: now,
  version: change.version + 1,
})

const atRun = (change: ScheduledChange, at: Instant, now: Instant): ScheduledChange => ({
  ...change,
  scheduledAt: at,
  dueAt: at,
  attempts: 0,
  updatedAt: now,
  version: change.version + 1,
})

/** Runs that were missed count once, at the time of the last one; undefined when none was missed. */
export function afterMissedRuns(change: ScheduledChange, now: Instant): ScheduledChange | undefined {
  if (!change.recurrence.isRecurring) return undefined
  const last = lastRun(change.recurrence, change.scheduledAt, now)
  return last > change.scheduledAt ? atRun(change, last, now) : undefined
}

/** True for a run that waited so long that the other change of its pair has had its turn since. */
export const isOvertaken = (change: ScheduledChange, partner: ScheduledChange, now: Instant): boolean =>
  change.recurrence.isRecurring &&
  partner.recurrence.isRecurring &&
  (partner.lastExecutedAt ?? '') > change.scheduledAt &&
  lastRun(partner.recurrence, change.scheduledAt, now) > change.scheduledAt

/** The next run of a recurring change, which is done when there is none. */
export function afterRun(change: ScheduledChange, now: Instant): ScheduledChange {
  const next = nextRun(change.recurrence, now)
  return next === undefined
    ? { ...atRun(change, change.scheduledAt, now), status: 'done', executedAt: now }
    : atRun(change, next, now)
}

/** The change after all due steps have been applied. */
export function afterSuccess(change: ScheduledChange, operation: Operation, now: Instant): ScheduledChange {
  if (change.recurrence.isRecurring) {
    return { ...afterRun(change, now), stepsDone: 1, failureReason: null, lastExecutedAt: now }
  }
  const stepsDone = stepsDueAt(operation, now)
  const next = operation.kind === 'ramp' ? operation.steps[stepsDone] : undefined
  return {
    ...change,
    stepsDone,
    attempts: 0,
    failureReason: null,
    status: next ? 'pending' : 'done',
    dueAt: next?.at ?? change.dueAt,
    executedAt: now,
    lastExecutedAt: now,
    updatedAt: now,
    version: change.version + 1,
  }
}

const stepsDueAt = (operation: Operation, now: Instant): number =>
  operation.kind === 'ramp' ? operation.steps.filter(step => step.at <= now).length : 1

/** The job passes over paused changes. */
export const neverDue: Instant = '9999-12-31T23:59:59.000000Z'

/** When a planned change is due. */
export const dueOf = (recurrence: ScheduleRecurrence, scheduledAt: Instant): Instant =>
  isPaused(recurrence) ? neverDue : scheduledAt

export interface ScheduleFilter {
  readonly flagId?: number
  readonly status?: ScheduleStatus
}
