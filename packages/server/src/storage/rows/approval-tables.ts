import type { Generated } from 'kysely'

/** Rows of approval policies and change requests. */
export interface ApprovalTables {
  approval_policies: ApprovalPolicyRow
  approval_policy_approvers: ApproverRow
  change_requests: ChangeRequestRow
  change_request_decisions: DecisionRow
}

export interface ApprovalPolicyRow {
  id: Generated<number>
  project_id: number
  action_key: string
  conditions: string
  quorum: number
  allow_self_approve: number
  expires_after_hours: number
  reapprove_percent: number | null
  reapprove_people: number | null
  /** A JSON list of ids. */
  emergency_roles: string
  enabled: number
  created_by_id: number
  created_at: string
  updated_at: string
  version: number
}

export interface ApproverRow {
  id: Generated<number>
  policy_id: number
  user_id: number | null
  role_id: string | null
}

export interface ChangeRequestRow {
  id: Generated<number>
  project_id: number
  kind: string
  flag_id: number | null
  cohort_id: number | null
  action_key: string
  state: string
  base_version: number | null
  base: string
  patch: string
  content_hash: string
  title: string
  reason: string
  impact: string | null
  requester_id: number
  key_label: string | null
  is_by_key: number
  created_at: string
  updated_at: string
  expires_at: string
  apply_at: string | null
  /** When the job has to look at it again; null once nothing is left to do. */
  due_at: string | null
  applied_at: string | null
  applied_version: number | null
  applied_by_id: number | null
  failure: string | null
  emergency_reason: string | null
  review_note: string | null
  reviewed_by_id: number | null
  reviewed_at: string | null
  version: number
}

export interface DecisionRow {
  id: Generated<number>
  change_request_id: number
  user_id: number
  decision: string
  reason: string
  content_hash: string
  impact: string | null
  decided_at: string
}
