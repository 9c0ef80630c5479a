import type { ScheduledChange as ChangeWire } from '@halyard/contract'
import { userToWire } from '../identity/user-resource.ts'
import type { ScheduledChange } from './scheduled-change.ts'

export const scheduleToWire = (change: ScheduledChange): ChangeWire => ({
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
  executed_at: change.executedAt,
  created_at: change.createdAt,
  created_by: userToWire(change.createdBy),
  updated_at: change.updatedAt,
})
