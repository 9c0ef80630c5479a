import type { ScheduledChange as ChangeWire } from '@halyard/contract'
import type { Flag } from '../flags/flag.ts'
import { userToWire } from '../identity/user-resource.ts'
import { brokenReason } from './operation.ts'
import type { ScheduledChange } from './scheduled-change.ts'

/** With the flag: also whether a pending change can still be applied to it. */
export const scheduleToWire = (change: ScheduledChange, flag?: Flag): ChangeWire => ({
  id: change.id,
  team_id: change.projectId,
  record_id: String(change.flagId),
  model_name: 'FeatureFlag',
  payload: change.payload as Record<string, unknown>,
  scheduled_at: change.scheduledAt,
  status: change.status,
  steps_done: change.stepsDone,
  attempts: change.attempts,
  next_attempt_at: change.status === 'pending' ? change.dueAt : null,
  failure_reason: change.failureReason,
  broken_reason: change.status === 'pending' && flag ? brokenReason(change.payload, flag) : null,
  executed_at: change.executedAt,
  created_at: change.createdAt,
  created_by: userToWire(change.createdBy),
  updated_at: change.updatedAt,
})
