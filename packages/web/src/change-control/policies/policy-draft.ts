import type { ApprovalPolicy, ApprovalPolicyWrite } from '@halyard/contract'
import { type ConditionDraft, emptyCondition, readCondition, writeCondition } from './policy-condition.ts'

/** Null for no limit. */
export interface Growth {
  readonly percent: number | null
  readonly people: number | null
}

/** A policy as its form has it. */
export interface PolicyDraft {
  readonly action: string
  /** Undefined for a condition that only the API can make: it is left as it is. */
  readonly condition: ConditionDraft | undefined
  readonly users: readonly string[]
  readonly roles: readonly string[]
  readonly quorum: number
  readonly expiresAfterDays: number
  readonly canSelfApprove: boolean
  readonly emergencyRoles: readonly string[]
  readonly growth: Growth
  readonly isEnabled: boolean
}

const hoursPerDay = 24

const newPolicy: PolicyDraft = {
  action: '*',
  condition: emptyCondition,
  users: [],
  roles: [],
  quorum: 1,
  expiresAfterDays: 14,
  canSelfApprove: false,
  emergencyRoles: [],
  growth: { percent: 10, people: 1000 },
  isEnabled: true,
}

/** Without a policy, the defaults of a new one. */
export function policyDraft(policy: ApprovalPolicy | undefined): PolicyDraft {
  if (!policy) return newPolicy
  const { users, roles, quorum } = policy.approver_config
  return {
    action: policy.action_key,
    condition: readCondition(policy.conditions),
    users: (users ?? []).map(String),
    roles: roles ?? [],
    quorum: quorum ?? newPolicy.quorum,
    expiresAfterDays: policy.expires_after_hours / hoursPerDay,
    canSelfApprove: policy.allow_self_approve,
    emergencyRoles: policy.emergency_roles,
    growth: { percent: policy.reapprove_percent, people: policy.reapprove_people },
    isEnabled: policy.enabled,
  }
}

export const policyToWire = (draft: PolicyDraft) => ({
  action_key: draft.action as NonNullable<ApprovalPolicyWrite['action_key']>,
  ...(draft.condition && { conditions: writeCondition(draft.condition) }),
  approver_config: { quorum: draft.quorum, users: draft.users.map(Number), roles: [...draft.roles] },
  allow_self_approve: draft.canSelfApprove,
  expires_after_hours: Math.round(draft.expiresAfterDays * hoursPerDay),
  reapprove_percent: draft.growth.percent,
  reapprove_people: draft.growth.people,
  emergency_roles: [...draft.emergencyRoles],
  enabled: draft.isEnabled,
})
