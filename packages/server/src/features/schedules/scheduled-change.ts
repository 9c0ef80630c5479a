import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { User } from '../../tenancy.ts'
import type { FreeObject } from '../flags/flag.ts'
import type { Operation } from './operation.ts'

export type ScheduleStatus = 'pending' | 'done' | 'failed'

export interface ScheduledChange {
  readonly id: number
  readonly projectId: number
  readonly flagId: number
  /** As it was sent. */
  readonly payload: FreeObject
  readonly scheduledAt: Instant
  readonly status: ScheduleStatus
  /** How many steps of a ramp are taken; a plain change has one step. */
  readonly stepsDone: number
  /** When the next step is due, or is tried again. */
  readonly dueAt: Instant
  /** How often the current step has failed. */
  readonly attempts: number
  readonly failureReason: string | null
  readonly executedAt: Instant | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

export const attemptsMax = 8
const firstPauseMilliseconds = 60_000
const pauseMillisecondsMax = 60 * 60_000

/** Tried again after a minute, two, four… up to an hour; given up after the last attempt, or at once when waiting cannot help. */
export function afterFailure(
  change: ScheduledChange,
  reason: string,
  { isFinal }: { readonly isFinal: boolean },
  now: Instant,
): ScheduledChange {
  const attempts = change.attempts + 1
  const pause = Math.min(firstPauseMilliseconds * 2 ** change.attempts, pauseMillisecondsMax)
  return {
    ...change,
    attempts,
    failureReason: reason,
    status: isFinal || attempts >= attemptsMax ? 'failed' : 'pending',
    dueAt: plusMilliseconds(now, pause),
    updatedAt: now,
    version: change.version + 1,
  }
}

/** All steps that are due have been taken. */
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
