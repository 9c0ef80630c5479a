import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { User } from '../../tenancy.ts'
import type { FreeObject } from '../flags/flag.ts'
import type { Operation } from './operation.ts'

export type ScheduleStatus = 'pending' | 'done' | 'failed'

export interface ScheduledChange {
  readonly id: number
  readonly projectId: number
  readonly flagId: number
  /** As submitted. */
  readonly payload: FreeObject
  readonly scheduledAt: Instant
  readonly status: ScheduleStatus
  /** Number of applied steps of a ramp; other changes have one step. */
  readonly stepsDone: number
  /** When the next step or retry is due. */
  readonly dueAt: Instant
  /** Number of failures of the current step. */
  readonly attempts: number
  readonly failureReason: string | null
  readonly executedAt: Instant | null
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
  const backoff = Math.min(firstBackoffMilliseconds * 2 ** change.attempts, backoffMillisecondsMax)
  return {
    ...change,
    attempts,
    failureReason: reason,
    status: isFinal || attempts >= attemptsMax ? 'failed' : 'pending',
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

/** The change after all due steps have been applied. */
export function afterSuccess(change: ScheduledChange, operation: Operation, now: Instant): ScheduledChange {
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
    updatedAt: now,
    version: change.version + 1,
  }
}

const stepsDueAt = (operation: Operation, now: Instant): number =>
  operation.kind === 'ramp' ? operation.steps.filter(step => step.at <= now).length : 1
