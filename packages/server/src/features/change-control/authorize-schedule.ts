import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { Flag } from '../flags/flag.ts'
import { ApprovalRequired, ApprovalWithdrawn, approvedRequest, mainAction } from './authorize-write.ts'
import { gainingDependents } from './gaining-dependents.ts'
import type { Permit } from './permit.ts'
import { matchesPolicy, needsImpact } from './policies/policy.ts'
import type { FreeObject } from './requests/change-request.ts'
import { policyStatuses } from './requests/policy-statuses.ts'
import { proposedSchedule, type ScheduledOutcome } from './schedules/scheduled-outcome.ts'
import { readWriteRules } from './write-rules.ts'

/**
 * The gate before a change is scheduled: approval is asked for when it is planned, and then holds for every run. A freeze holds up the run,
 * not the plan. Null when no approval was needed.
 */
export async function authorizeSchedule(
  tx: Stores,
  permit: Permit,
  project: Project,
  { flag, outcome, content }: { readonly flag: Flag; readonly outcome: ScheduledOutcome; readonly content: FreeObject },
): Promise<{ readonly changeRequest: number; readonly contentHash: string } | null> {
  if (permit.kind === 'system') return null
  const { policies, dependents: others } = await readWriteRules(tx, project)
  const dependents = gainingDependents(others, outcome)
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const save = { projectId: project.id, stored: outcome.stored, flag: outcome.flag }
  const impact = isMeasured ? permit.impactOf(save) : undefined
  if (permit.kind === 'approved') {
    const { changeRequest, contentHash } = permit
    const request = await approvedRequest(tx, permit, project, { flagId: flag.id, cohortId: null }, 'approved')
    const change = proposedSchedule(outcome, {
      isByKey: request.isByKey,
      impact: impact ?? request.impact ?? undefined,
      dependents,
    })
    const statuses = await policyStatuses(
      tx,
      project,
      request,
      policies.filter(policy => matchesPolicy(policy, change)),
    )
    if (!statuses.every(({ isSatisfied }) => isSatisfied)) throw new ApprovalWithdrawn()
    return { changeRequest, contentHash }
  }
  const change = proposedSchedule(outcome, { isByKey: permit.requester.isByKey, impact, dependents })
  const matching = policies.filter(policy => matchesPolicy(policy, change))
  if (matching.length === 0) return null
  throw new ApprovalRequired({
    kind: 'schedule',
    projectId: project.id,
    flagId: flag.id,
    cohortId: null,
    actionKey: mainAction(change.actions),
    baseVersion: null,
    base: {},
    patch: content,
    applyAt: null,
    name: flag.key,
    requester: permit.requester,
    policies: matching,
    impact: impact ?? null,
  })
}
