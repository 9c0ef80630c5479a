import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import type { ApprovalPolicy } from '../policy.ts'
import { type ChangeRequest, type PolicyStatus, policyStatus } from './change-request.ts'

/** How far the decisions about a request satisfy each policy, with the approvers of this moment. */
export async function policyStatuses(
  tx: Stores,
  project: Pick<Project, 'organizationId'>,
  request: ChangeRequest,
  policies: readonly ApprovalPolicy[],
): Promise<readonly PolicyStatus[]> {
  const decisions = await tx.changeRequests.listDecisions([request.id])
  const statuses: PolicyStatus[] = []
  for (const policy of policies) {
    const eligible = await tx.policies.eligible(project.organizationId, policy.approvers)
    statuses.push(policyStatus(request, policy, eligible, decisions))
  }
  return statuses
}
