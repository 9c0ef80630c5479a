import type { ChangeRequest as RequestWire } from '@halyard/contract'
import type { ChangeRequest, Decision, FreeObject } from '../../../domain/change-request.ts'
import type { User } from '../../../tenancy.ts'
import { userToWire } from '../../identity/user-resource.ts'

const resourceTypes = { flag: 'feature_flag', cohort: 'cohort', schedule: 'scheduled_change' } as const

export function requestToWire(request: ChangeRequest, decisions: readonly Decision[], user: User): RequestWire {
  const own = decisions.filter(({ changeRequestId }) => changeRequestId === request.id)
  const isCurrent = ({ contentHash }: Decision) => contentHash === request.contentHash
  const resourceId = request.flagId ?? request.cohortId
  return {
    id: request.id,
    action_key: request.actionKey,
    resource_type: resourceTypes[request.kind],
    resource_id: resourceId === null ? null : String(resourceId),
    state: request.state,
    title: request.title,
    reason: request.reason,
    intent: fieldsToWire(request.patch),
    base: fieldsToWire(request.base),
    base_version: request.baseVersion,
    content_hash: request.contentHash,
    impact: request.impact,
    created_by: userToWire(request.requester),
    through: request.keyLabel,
    created_at: request.createdAt,
    updated_at: request.updatedAt,
    expires_at: request.expiresAt,
    apply_at: request.applyAt,
    next_attempt_at: request.dueAt,
    applied_at: request.appliedAt,
    applied_by: request.appliedBy && userToWire(request.appliedBy),
    applied_version: request.appliedVersion,
    apply_error: request.failure,
    emergency_reason: request.emergencyReason,
    review:
      request.reviewedBy && request.reviewedAt
        ? {
            note: request.reviewNote ?? '',
            reviewed_by: userToWire(request.reviewedBy),
            reviewed_at: request.reviewedAt,
          }
        : null,
    approvals: own.map(decision => ({
      created_by: userToWire(decision.user),
      decision: decision.decision,
      reason: decision.reason,
      created_at: decision.decidedAt,
      is_current: isCurrent(decision),
    })),
    is_requester: request.requester.id === user.id,
    user_decision: own.find(decision => decision.user.id === user.id && isCurrent(decision))?.decision ?? null,
  }
}

/** Stored fields under the names of the API. */
export const fieldsToWire = (fields: FreeObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
