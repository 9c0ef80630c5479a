import type { ApprovalPolicy as PolicyWire } from '@halyard/contract'
import type { ApprovalPolicy } from '../../../domain/policy.ts'
import { userToWire } from '../../identity/user-resource.ts'

export const policyToWire = (policy: ApprovalPolicy): PolicyWire => ({
  id: policy.id,
  action_key: policy.actionKey,
  conditions: { ...policy.conditions },
  approver_config: { quorum: policy.quorum, users: [...policy.approvers.users], roles: [...policy.approvers.roles] },
  allow_self_approve: policy.allowSelfApprove,
  allow_keys: policy.allowKeys,
  expires_after_hours: policy.expiresAfterHours,
  reapprove_percent: policy.reapprovePercent,
  reapprove_people: policy.reapprovePeople,
  emergency_roles: [...policy.emergencyRoles],
  enabled: policy.enabled,
  created_by: userToWire(policy.createdBy),
  created_at: policy.createdAt,
  updated_at: policy.updatedAt,
})
