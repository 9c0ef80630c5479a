import type { CommonControl } from '../../../domain/account-tie.ts'
import { type ChangeRequest, type Decision, type PolicyStatus, policyStatus } from '../../../domain/change-request.ts'
import type { ApprovalPolicy } from '../../../domain/policy.ts'
import { instantOf } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'

/** A request, and the policies that it meets. */
export interface MatchedRequest {
  readonly request: ChangeRequest
  readonly policies: readonly ApprovalPolicy[]
}

/** How far the decisions about a request satisfy each policy, with the approvers of this moment. */
export const policyStatuses = async (
  tx: Stores,
  project: Pick<Project, 'organizationId'>,
  request: ChangeRequest,
  policies: readonly ApprovalPolicy[],
): Promise<readonly PolicyStatus[]> => (await policyStatusesOfAll(tx, project, [{ request, policies }]))[0]!

/** In the same order. Decisions and approvers are read once for all of them. */
export async function policyStatusesOfAll(
  tx: Stores,
  project: Pick<Project, 'organizationId'>,
  matched: readonly MatchedRequest[],
): Promise<readonly (readonly PolicyStatus[])[]> {
  const policies = new Map(matched.flatMap(one => one.policies.map(policy => [policy.id, policy])))
  const eligible = new Map<number, ReadonlySet<number>>()
  for (const { id, approvers } of policies.values()) {
    eligible.set(id, await tx.policies.eligible(project.organizationId, approvers))
  }
  const decisions = new Map<number, Decision[]>(matched.map(({ request }) => [request.id, []]))
  for (const decision of await tx.changeRequests.listDecisions([...decisions.keys()])) {
    decisions.get(decision.changeRequestId)!.push(decision)
  }
  const approvers = new Set([...eligible.values()].flatMap(ids => [...ids]))
  const dependent = new Map<number, ReadonlyMap<number, CommonControl>>()
  for (const id of new Set(matched.flatMap(one => (one.policies.length > 0 ? [one.request.requester.id] : [])))) {
    dependent.set(id, await tx.accountTies.dependentOn(id, approvers, instantOf(new Date())))
  }
  return matched.map(({ request, policies: met }) =>
    met.map(policy =>
      policyStatus(
        request,
        policy,
        eligible.get(policy.id)!,
        dependent.get(request.requester.id)!,
        decisions.get(request.id)!,
      ),
    ),
  )
}
