import type { ApprovalPolicyWrite } from '@halyard/contract'
import { authorOf, diffFields } from '../../../domain/activity.ts'
import { expiresAfterHoursDefault } from '../../../domain/change-request.ts'
import type { ApprovalPolicy } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { releaseRequests } from '../requests/decide-request.ts'
import { policyToWire } from './policy-resource.ts'
import { readCondition } from './read-condition.ts'
import { requireRoles } from './require-roles.ts'

const policiesPerProjectMax = 50

export async function createPolicy(
  tx: Stores,
  actor: Actor,
  project: Project,
  write: ApprovalPolicyWrite & { readonly action_key: ApprovalPolicy['actionKey'] },
  now: Instant,
): Promise<ApprovalPolicy> {
  if ((await tx.policies.count(project.id)) >= policiesPerProjectMax) {
    throw invalid(null, 'limit_reached', `A project can have at most ${policiesPerProjectMax} approval policies.`)
  }
  const start: Omit<ApprovalPolicy, 'id'> = {
    projectId: project.id,
    actionKey: write.action_key,
    conditions: {},
    approvers: { users: [], roles: [] },
    quorum: 1,
    allowSelfApprove: false,
    allowKeys: false,
    expiresAfterHours: expiresAfterHoursDefault,
    reapprovePercent: 10,
    reapprovePeople: 1000,
    emergencyRoles: [],
    enabled: true,
    createdBy: actor.user,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  const policy = applyWrite(start, write)
  await checkApprovers(tx, project, policy)
  const created = await tx.policies.create(policy)
  await recordPolicy(tx, actor, project, { activity: 'created', before: undefined, after: created }, now)
  return created
}

export async function updatePolicy(
  tx: Stores,
  actor: Actor,
  project: Project,
  { policyId, write }: { readonly policyId: number; readonly write: ApprovalPolicyWrite },
  now: Instant,
): Promise<ApprovalPolicy> {
  const stored = await getPolicy(tx, project, policyId)
  const policy = { ...applyWrite(stored, write), updatedAt: now, version: stored.version + 1 }
  await checkApprovers(tx, project, policy)
  await tx.policies.save(policy)
  await recordPolicy(tx, actor, project, { activity: 'updated', before: stored, after: policy }, now)
  await releaseRequests(tx, actor, project, now)
  return policy
}

export async function removePolicy(
  tx: Stores,
  actor: Actor,
  project: Project,
  policyId: number,
  now: Instant,
): Promise<void> {
  const stored = await getPolicy(tx, project, policyId)
  await tx.policies.remove(stored.id)
  await recordPolicy(tx, actor, project, { activity: 'deleted', before: stored, after: undefined }, now)
  await releaseRequests(tx, actor, project, now)
}

/** Raises `missing`. */
export async function getPolicy(tx: Stores, project: Project, policyId: number): Promise<ApprovalPolicy> {
  const policy = await tx.policies.find(project.id, policyId)
  if (!policy) throw missing('Approval policy')
  return policy
}

function applyWrite<P extends Omit<ApprovalPolicy, 'id'>>(policy: P, write: ApprovalPolicyWrite): P {
  const { quorum, users, roles } = write.approver_config ?? {}
  const actionKey = write.action_key ?? policy.actionKey
  const isOtherRule = write.conditions !== undefined || actionKey !== policy.actionKey
  return {
    ...policy,
    actionKey,
    conditions: isOtherRule
      ? readCondition({ ...(write.conditions ?? policy.conditions) }, actionKey)
      : policy.conditions,
    approvers: {
      users: users ? [...new Set(users)] : policy.approvers.users,
      roles: roles ? [...new Set(roles)] : policy.approvers.roles,
    },
    quorum: quorum ?? policy.quorum,
    allowSelfApprove: write.allow_self_approve ?? policy.allowSelfApprove,
    allowKeys: write.allow_keys ?? policy.allowKeys,
    expiresAfterHours: write.expires_after_hours ?? policy.expiresAfterHours,
    reapprovePercent: write.reapprove_percent === undefined ? policy.reapprovePercent : write.reapprove_percent,
    reapprovePeople: write.reapprove_people === undefined ? policy.reapprovePeople : write.reapprove_people,
    emergencyRoles: write.emergency_roles ? [...new Set(write.emergency_roles)] : policy.emergencyRoles,
    enabled: write.enabled ?? policy.enabled,
  }
}

/** Raises `invalid` for approvers who are not in the organization, and for more approvals than there are approvers. */
async function checkApprovers(
  tx: Stores,
  { organizationId }: Project,
  { approvers, quorum, emergencyRoles }: Pick<ApprovalPolicy, 'approvers' | 'quorum' | 'emergencyRoles'>,
): Promise<void> {
  await requireRoles(tx, organizationId, approvers.roles, 'approver_config__roles')
  await requireRoles(tx, organizationId, emergencyRoles, 'emergency_roles')
  const members = await tx.policies.eligible(organizationId, { users: approvers.users, roles: [] })
  const unknownUser = approvers.users.find(id => !members.has(id))
  if (unknownUser !== undefined) {
    throw invalid(
      'approver_config__users',
      'does_not_exist',
      `User ${unknownUser} is not a member of the organization, or can only view it.`,
    )
  }
  const eligible = await tx.policies.eligible(organizationId, approvers)
  if (quorum > eligible.size) {
    throw invalid(
      'approver_config__quorum',
      'invalid_input',
      `quorum is ${quorum}, but only ${eligible.size} users can approve.`,
    )
  }
}

interface PolicyRecord {
  readonly activity: string
  readonly before: ApprovalPolicy | undefined
  readonly after: ApprovalPolicy | undefined
}

async function recordPolicy(
  tx: Stores,
  actor: Actor,
  project: Project,
  { activity, before, after }: PolicyRecord,
  now: Instant,
): Promise<void> {
  const policy = (after ?? before)!
  const changes = before && after ? diffFields(fieldsOf(before), fieldsOf(after)) : []
  await tx.activity.append({
    organizationId: project.organizationId,
    projectId: project.id,
    scope: 'ApprovalPolicy',
    itemId: String(policy.id),
    activity,
    ...authorOf(actor),
    detail: { name: policy.actionKey, changes, trigger: null },
    createdAt: now,
  })
  await tx.changes.append({
    topic: 'change_request',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: `policy ${policy.id}`,
    at: now,
  })
}

const fieldsOf = (policy: ApprovalPolicy) => {
  const { id: _id, created_by: _by, created_at: _at, updated_at: _updated, ...fields } = policyToWire(policy)
  return fields
}
