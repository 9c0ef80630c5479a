import type { ApprovalNeeded, Held } from '../../domain/approval.ts'
import type { Authorization } from '../../domain/authorization.ts'
import type { ChangeRequest, FreeObject, PolicyStatus, RequestedContent } from '../../domain/change-request.ts'
import type { ApprovedPermit, DirectPermit, Permit } from '../../domain/permit.ts'
import {
  type Action,
  type ApprovalPolicy,
  matchesPolicy,
  needsImpact,
  type ProposedChange,
} from '../../domain/policy.ts'
import type { Instant } from '../../instant.ts'
import { forbidden, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { isUnchangedCohort, type PlannedCohort } from '../cohorts/plan-cohort.ts'
import { isUnchanged, type PlannedFlag } from '../flags/plan-flag.ts'
import { cohortApproval, flagApproval, mainAction } from './approval-needed.ts'
import type { Evidence } from './evidence.ts'
import { proposedFlagChange } from './flag-change.ts'
import { frozenBy, frozenFlag, hasRole } from './frozen-by.ts'
import { gainingDependents } from './gaining-dependents.ts'
import { grownImpact } from './requests/impact-growth.ts'
import { policyStatuses } from './requests/policy-statuses.ts'
import { isApprovedPayload } from './schedules/approved-payload.ts'
import type { PlannedSchedule } from './schedules/plan-schedule.ts'
import { proposedSchedule } from './schedules/scheduled-outcome.ts'
import { readWriteRules, type WriteRules } from './write-rules.ts'

/** What policies and freezes say about a planned change. Nothing was written yet. */
export type Decision =
  | {
      readonly kind: 'allowed'
      readonly authorization: Authorization
      /** Policies were bypassed: the change has to be reviewed. */
      readonly bypassed?: ApprovalNeeded & { readonly emergency: string }
    }
  | Held

const allowed = (trigger: FreeObject | null): Decision => ({
  kind: 'allowed',
  authorization: { trigger } as Authorization,
})

interface Grounds {
  readonly permit: Permit
  readonly evidence: Evidence
  readonly now: Instant
}

/** Decides about a write of a flag. Raises `forbidden` for an emergency of someone who cannot declare it, and `conflict`. */
export async function authorizeFlag(
  tx: Stores,
  { permit, evidence, now }: Grounds,
  planned: PlannedFlag,
  rules?: WriteRules,
): Promise<Decision> {
  if (permit.kind === 'system' || isUnchanged(planned)) return allowed(null)
  const { project, stored, flag } = planned
  const { freezes, policies, dependents } = rules ?? (await readWriteRules(tx, project))
  const gaining = gainingDependents(dependents, planned)
  const frozen =
    freezes.length === 0
      ? undefined
      : await frozenFlag(tx, project, { stored, flag, gaining }, () => requesterIdOf(tx, permit, project), now)
  if (frozen && !isEmergency(permit)) return { kind: 'frozen', frozen }
  if (permit.kind === 'direct' && policies.length === 0 && !frozen) return allowed(noteOf(permit))
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const impact = isMeasured ? evidence.impactOf(planned) : undefined
  if (permit.kind === 'direct') {
    const needed = flagApproval(project, { stored, flag, requester: permit.requester, impact, gaining }, policies)
    const isGated = needed.policies.length > 0 || frozen !== undefined
    return isGated ? bypassOrAsk(tx, permit, project, needed) : allowed(noteOf(permit))
  }
  const request = await approvedRequest(tx, permit, project, { flagId: stored?.id ?? null, cohortId: null })
  if (request.kind !== 'flag') return scheduledDecision(permit, request)
  const latestImpact = impact ?? request.impact ?? undefined
  const change = proposedFlagChange({
    stored,
    flag,
    isByKey: request.isByKey,
    impact: latestImpact,
    dependents: gaining,
  })
  const statuses = await statusesFor(tx, project, request, policies, change)
  if (!areSatisfied(statuses)) return { kind: 'withdrawn' }
  const grown = await grownImpact(tx, request, statuses, () => evidence.impactOf(planned), now)
  return grown ? { kind: 'grown', ...grown } : byRequest(request)
}

/** Raises `conflict` when the scheduled change is not what was approved. */
function scheduledDecision({ scheduledPayload }: ApprovedPermit, request: ChangeRequest): Decision {
  if (scheduledPayload && isApprovedPayload(scheduledPayload, request.patch)) return byRequest(request)
  throw new Problem('conflict', 'The scheduled change is not what was approved.')
}

const byRequest = ({ id }: ChangeRequest): Decision => allowed({ change_request: id })

/** The same for a cohort. A new cohort changes no flag, so only changes of existing ones can need approval. */
export async function authorizeCohort(tx: Stores, { permit, now }: Grounds, planned: PlannedCohort): Promise<Decision> {
  if (permit.kind === 'system' || isUnchangedCohort(planned)) return allowed(null)
  const { project, stored } = planned
  const frozen = await frozenBy(tx, { project, tags: [] }, () => requesterIdOf(tx, permit, project), now)
  if (frozen && !isEmergency(permit)) return { kind: 'frozen', frozen }
  const policies = await tx.policies.listEnabled(project.id)
  if (permit.kind === 'approved') {
    const request = await approvedRequest(tx, permit, project, { flagId: null, cohortId: stored.id })
    const statuses = await statusesFor(tx, project, request, policies, cohortChange(request.isByKey))
    return areSatisfied(statuses) ? byRequest(request) : { kind: 'withdrawn' }
  }
  const proposed = cohortChange(permit.requester.isByKey)
  const matching = policies.filter(policy => matchesPolicy(policy, proposed))
  if (matching.length === 0 && !frozen) return allowed(noteOf(permit))
  return bypassOrAsk(tx, permit, project, cohortApproval(planned, permit.requester, matching))
}

const cohortChange = (isByKey: boolean): ProposedChange => ({
  actions: new Set<Action>(['cohort.update']),
  before: {},
  after: {},
  releases: [],
  tags: [],
  isByKey,
  impact: undefined,
  dependents: [],
})

/**
 * The same before a change is scheduled: approval is asked for when it is planned, and then holds for every run. A freeze holds up the run,
 * not the plan.
 */
export async function authorizeSchedule(
  tx: Stores,
  { permit, evidence }: Grounds,
  { project, flag, outcome, content }: PlannedSchedule,
): Promise<Decision> {
  if (permit.kind === 'system' || !outcome) return allowed(null)
  const { policies, dependents: others } = await readWriteRules(tx, project)
  const dependents = gainingDependents(others, outcome)
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const save = { projectId: project.id, stored: outcome.stored, flag: outcome.flag }
  const impact = isMeasured ? evidence.impactOf(save) : undefined
  if (permit.kind === 'approved') {
    const request = await approvedRequest(tx, permit, project, { flagId: flag.id, cohortId: null }, 'approved')
    const latestImpact = impact ?? request.impact ?? undefined
    const change = proposedSchedule(outcome, { isByKey: request.isByKey, impact: latestImpact, dependents })
    const statuses = await statusesFor(tx, project, request, policies, change)
    return areSatisfied(statuses) ? byRequest(request) : { kind: 'withdrawn' }
  }
  const { requester } = permit
  const change = proposedSchedule(outcome, { isByKey: requester.isByKey, impact, dependents })
  const matching = policies.filter(policy => matchesPolicy(policy, change))
  if (matching.length === 0) return allowed(null)
  const needed: ApprovalNeeded = {
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
    requester,
    policies: matching,
    impact: impact ?? null,
  }
  return { kind: 'needs_approval', needed }
}

const requesterIdOf = async (tx: Stores, permit: DirectPermit | ApprovedPermit, project: Project) =>
  permit.kind === 'direct'
    ? permit.requester.user.id
    : (await tx.changeRequests.find(project.id, permit.changeRequest))?.requester.id

const noteOf = ({ note }: DirectPermit): FreeObject | null => (note === undefined ? null : { note })

const isEmergency = (permit: Permit): boolean => permit.kind === 'direct' && permit.emergency !== null

/** Raises `forbidden` for an emergency of someone who cannot declare it. */
async function bypassOrAsk(
  tx: Stores,
  { emergency }: DirectPermit,
  project: Project,
  needed: ApprovalNeeded,
): Promise<Decision> {
  if (!emergency) return { kind: 'needs_approval', needed }
  if (!emergency.organizationIds.has(project.organizationId) && !(await isNamedByAll(tx, project, needed))) {
    throw forbidden('Only owners, and the emergency roles of the policies, can send X-Halyard-Emergency.')
  }
  const { reason } = emergency
  return { ...allowed({ emergency: reason }), bypassed: { ...needed, emergency: reason } } as Decision
}

/** Every policy that the change meets names a role of the requester. A freeze alone names none. */
async function isNamedByAll(tx: Stores, project: Project, { policies, requester }: ApprovalNeeded): Promise<boolean> {
  for (const { emergencyRoles } of policies) {
    if (!(await hasRole(tx, project, requester.user.id, emergencyRoles))) return false
  }
  return policies.length > 0
}

/** Raises `conflict` unless the permit holds for this target. */
async function approvedRequest(
  tx: Stores,
  permit: ApprovedPermit,
  project: Project,
  target: Pick<RequestedContent, 'flagId' | 'cohortId'>,
  scheduled: 'approved' | 'applied' = 'applied',
): Promise<ChangeRequest> {
  const request = await tx.changeRequests.find(project.id, permit.changeRequest)
  // A scheduled change that was approved runs after its request was applied, by being scheduled.
  const isForThis =
    request?.state === (request?.kind === 'schedule' ? scheduled : 'approved') &&
    request.contentHash === permit.contentHash &&
    request.flagId === target.flagId &&
    request.cohortId === target.cohortId
  if (!isForThis) throw new Problem('conflict', 'The change request was changed meanwhile. Read it again.')
  return request
}

/** The policies that the change meets now, and how far they are satisfied by users who can still approve this content. */
const statusesFor = (
  tx: Stores,
  project: Project,
  request: Parameters<typeof policyStatuses>[2],
  policies: readonly ApprovalPolicy[],
  change: ProposedChange,
): Promise<readonly PolicyStatus[]> =>
  policyStatuses(
    tx,
    project,
    request,
    policies.filter(policy => matchesPolicy(policy, change)),
  )

const areSatisfied = (statuses: readonly PolicyStatus[]): boolean => statuses.every(({ isSatisfied }) => isSatisfied)
