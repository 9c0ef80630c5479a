import type { ScheduledChange as ChangeWire } from '@halyard/contract'
import type { Flag } from '../../../domain/flag.ts'
import { type Frozen, freezeInForce } from '../../../domain/freeze.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { rampState } from './operation.ts'
import { isPaused } from './schedule-recurrence.ts'
import type { ScheduledChange } from './scheduled-change.ts'

/** With the flag: also whether a pending change can still be applied to it; with the freeze that its next run falls into. */
export function scheduleToWire(change: ScheduledChange, flag?: Flag, frozen?: Frozen): ChangeWire {
  const ramp = change.status === 'pending' && flag ? rampState(change.payload, flag) : undefined
  return {
    id: change.id,
    team_id: change.projectId,
    record_id: String(change.flagId),
    model_name: 'FeatureFlag',
    payload: change.payload as Record<string, unknown>,
    scheduled_at: change.scheduledAt,
    status: change.status,
    steps_done: change.stepsDone,
    attempts: change.attempts,
    next_attempt_at: change.status === 'pending' && !isPaused(change.recurrence) ? change.dueAt : null,
    frozen_until: frozen?.until ?? null,
    failure_reason: change.failureReason,
    broken_reason: ramp?.brokenReason ?? null,
    condition_position: ramp?.position ?? null,
    executed_at: change.executedAt,
    last_executed_at: change.lastExecutedAt,
    is_recurring: change.recurrence.isRecurring,
    recurrence_interval: change.recurrence.interval,
    cron_expression: change.recurrence.cron,
    timezone: change.recurrence.timeZone,
    end_date: change.recurrence.endDate,
    pair_id: change.pairId,
    change_request: change.approval?.changeRequest ?? null,
    created_at: change.createdAt,
    created_by: userToWire(change.createdBy),
    updated_at: change.updatedAt,
  }
}

/** The freeze that the next run of a change falls into. Switching off passes. */
export async function freezesOf(tx: Stores, project: Project) {
  const freezes = await tx.freezes.list(project.organizationId)
  const environmentSetId = freezes.length === 0 ? null : await tx.environments.setOf(project.id)
  return ({ status, payload, dueAt }: ScheduledChange, flag: Flag | undefined) => {
    const isSwitchedOff = payload.operation === 'update_status' && payload.value === false
    if (status !== 'pending' || isSwitchedOff) return undefined
    return freezeInForce(freezes, { projectId: project.id, environmentSetId, tags: flag?.tags ?? [] }, dueAt)
  }
}
