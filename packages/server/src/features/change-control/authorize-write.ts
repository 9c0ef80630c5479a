import { isDeepStrictEqual } from 'node:util'
import type { Instant } from '../../instant.ts'
import { forbidden, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Cohort, contentOf as cohortContentOf } from '../cohorts/cohort.ts'
import { contentOf, type Flag, type FlagContent } from '../flags/flag.ts'
import type { FlagSave } from '../flags/flag-guard.ts'
import { type DependentGain, isSwitchedOff, proposedFlagChange } from './flag-change.ts'
import { type Freeze, type Frozen, freezeInForce } from './freezes/freeze.ts'
import { gainingDependents } from './gaining-dependents.ts'
import type { ApprovedPermit, DirectPermit, Emergency, Permit, Requester } from './permit.ts'
import {
  type Action,
  type ApprovalPolicy,
  type Impact,
  matchesPolicy,
  needsImpact,
  type ProposedChange,
} from './policies/policy.ts'
import type { ChangeRequest, FreeObject, PolicyStatus, RequestedContent } from './requests/change-request.ts'
import { requireSimilarImpact } from './requests/impact-growth.ts'
import { policyStatuses } from './requests/policy-statuses.ts'
import { isApprovedPayload } from './schedules/approved-payload.ts'
import { readWriteRules, type WriteRules } from './write-rules.ts'

/** On what grounds a write was authorized, for its activity entry and for the review of an emergency. */
export interface Authorization {
  readonly trigger: FreeObject | null
  /** Set when policies were bypassed: the change has to be reviewed. */
  readonly bypassed?: ApprovalNeeded & { readonly emergency: string }
}

/** A write that needs approval, as the content of the change request to open. */
export interface ApprovalNeeded extends RequestedContent {
  readonly projectId: number
  /** The key of the flag, or the name of the cohort. */
  readonly name: string
  readonly requester: Requester
  readonly policies: readonly ApprovalPolicy[]
  readonly impact: Impact | null
  /** The keys of flags that release to more people because of it. */
  readonly gaining?: readonly string[]
}

/** Raised before anything is written. Callers respond with the change request that they open. */
export class ApprovalRequired extends Error {
  readonly needed: ApprovalNeeded

  constructor(needed: ApprovalNeeded) {
    super('The change needs approval.')
    this.name = 'ApprovalRequired'
    this.needed = needed
  }
}

/** The approval of a change request no longer suffices: a policy or an approver has changed since. */
export class ApprovalWithdrawn extends Error {
  constructor() {
    super('The approval no longer suffices.')
    this.name = 'ApprovalWithdrawn'
  }
}

/** The only authorization check of a flag write. Raises `Frozen`, `ApprovalRequired` or `ApprovalWithdrawn`. */
export async function authorizeFlagWrite(
  tx: Stores,
  permit: Permit,
  project: Project,
  save: FlagSave,
  now: Instant,
  rules?: WriteRules,
): Promise<Authorization> {
  if (permit.kind === 'system') return { trigger: null }
  const { stored, flag } = save
  const { freezes, policies, dependents } = rules ?? (await readWriteRules(tx, project))
  const gaining = gainingDependents(dependents, save)
  const frozen =
    freezes.length === 0
      ? undefined
      : await frozenFlag(tx, project, { ...save, gaining }, () => requesterIdOf(tx, permit, project), now)
  if (frozen && !isEmergency(permit)) throw frozen
  if (permit.kind === 'direct' && policies.length === 0 && !frozen) return { trigger: noteOf(permit) }
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const impact = isMeasured ? permit.impactOf(save) : undefined
  if (permit.kind === 'approved') {
    const request = await approvedRequest(tx, permit, project, { flagId: stored?.id ?? null, cohortId: null })
    const measured = impact ?? request.impact ?? undefined
    const { isByKey } = request
    const change = proposedFlagChange({ stored, flag, isByKey, impact: measured, dependents: gaining })
    if (request.kind === 'flag') {
      const statuses = await requireSatisfied(tx, project, request, policies, change)
      await requireSimilarImpact(tx, request, statuses, () => permit.impactOf(save), now)
    } else if (!permit.scheduledPayload || !isApprovedPayload(permit.scheduledPayload, request.patch)) {
      throw new Problem('conflict', 'The scheduled change is not what was approved.')
    }
    return { trigger: { change_request: request.id } }
  }
  const change = { stored, flag, requester: permit.requester, impact, gaining }
  const needed = neededFor(project, change, policies)
  const isGated = needed.policies.length > 0 || frozen !== undefined
  if (isGated) return bypassOrRaise(tx, permit.emergency, project, needed)
  return { trigger: noteOf(permit) }
}

/** Switching a flag off passes, unless flags that depend on it would release to more people during their freeze. */
export async function frozenFlag(
  tx: Stores,
  project: Project,
  { stored, flag, gaining }: Pick<RequestedFlagChange, 'stored' | 'flag' | 'gaining'>,
  requesterId: () => Promise<number | undefined>,
  now: Instant,
): Promise<Frozen | undefined> {
  const isOff = isSwitchedOff({ stored, flag })
  if (isOff && gaining.length === 0) return undefined
  const own = isOff ? [] : [...(stored?.tags ?? []), ...flag.tags]
  const target = { project, tags: [...own, ...gaining.flatMap(({ tags }) => tags)] }
  const frozen = await frozenBy(tx, target, requesterId, now)
  return isOff ? frozen?.releasing(gaining.map(({ key }) => key)) : frozen
}

interface RequestedFlagChange {
  readonly stored: Flag | undefined
  readonly flag: FlagContent
  readonly requester: Requester
  readonly impact?: Impact | undefined
  readonly gaining: readonly DependentGain[]
}

/** A change of a flag as a request, with the policies that it meets: none when it could be made directly. */
export async function flagChangeNeeded(
  tx: Stores,
  project: Project,
  change: Omit<RequestedFlagChange, 'gaining' | 'impact'>,
  impactOf: () => Impact | undefined,
): Promise<ApprovalNeeded> {
  const { policies, dependents } = await readWriteRules(tx, project)
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const gaining = gainingDependents(dependents, change)
  return neededFor(project, { ...change, gaining, impact: isMeasured ? impactOf() : undefined }, policies)
}

function neededFor(
  project: Project,
  { stored, flag, requester, impact, gaining }: RequestedFlagChange,
  policies: readonly ApprovalPolicy[],
): ApprovalNeeded {
  const change = proposedFlagChange({ stored, flag, isByKey: requester.isByKey, impact, dependents: gaining })
  return {
    kind: 'flag',
    projectId: project.id,
    flagId: stored?.id ?? null,
    cohortId: null,
    actionKey: mainAction(change.actions),
    baseVersion: stored?.version ?? null,
    ...flagFields(stored, flag),
    applyAt: null,
    name: stored?.key ?? flag.key,
    requester,
    policies: policies.filter(policy => matchesPolicy(policy, change)),
    impact: impact ?? null,
    gaining: gaining.map(({ key }) => key),
  }
}

/** Members that are added to or removed from a static cohort. */
export interface MemberChange {
  readonly added?: FreeObject
  readonly removed?: FreeObject
}

/** The only authorization check of a cohort write. A new cohort changes no flag, so only changes of existing ones can need approval. */
export async function authorizeCohortWrite(
  tx: Stores,
  permit: Permit,
  project: Project,
  {
    stored,
    cohort,
    members = {},
  }: { readonly stored: Cohort; readonly cohort: Cohort; readonly members?: MemberChange },
  now: Instant,
): Promise<Authorization> {
  if (permit.kind === 'system') return { trigger: null }
  const frozen = await frozenBy(tx, { project, tags: [] }, () => requesterIdOf(tx, permit, project), now)
  if (frozen && !isEmergency(permit)) throw frozen
  const policies = await tx.policies.listEnabled(project.id)
  const change = (isByKey: boolean): ProposedChange => ({
    actions: new Set<Action>(['cohort.update']),
    before: {},
    after: {},
    releases: [],
    tags: [],
    isByKey,
    impact: undefined,
    dependents: [],
  })
  if (permit.kind === 'approved') {
    const request = await approvedRequest(tx, permit, project, { flagId: null, cohortId: stored.id })
    await requireSatisfied(tx, project, request, policies, change(request.isByKey))
    return { trigger: { change_request: request.id } }
  }
  const proposed = change(permit.requester.isByKey)
  const matching = policies.filter(policy => matchesPolicy(policy, proposed))
  if (matching.length === 0 && !frozen) return { trigger: noteOf(permit) }
  const [before, after] = [cohortContentOf(stored), cohortContentOf(cohort)]
  const { base, patch } = changedFields({ ...before }, { ...after })
  return bypassOrRaise(tx, permit.emergency, project, {
    kind: 'cohort',
    projectId: project.id,
    flagId: null,
    cohortId: stored.id,
    actionKey: 'cohort.update',
    baseVersion: stored.version,
    base,
    patch: { ...patch, ...members },
    applyAt: null,
    name: stored.name,
    requester: permit.requester,
    policies: matching,
    impact: null,
  })
}

/** The freeze that holds up the requester. Most organizations have none, and then this is one short read. */
export async function frozenBy(
  tx: Stores,
  { project, tags }: { readonly project: Project; readonly tags: readonly unknown[] },
  requesterId: () => Promise<number | undefined>,
  now: Instant,
): Promise<Frozen | undefined> {
  const freezes = await tx.freezes.list(project.organizationId)
  if (freezes.length === 0) return undefined
  const environmentSetId = await tx.environments.setOf(project.id)
  const target = { projectId: project.id, environmentSetId, tags }
  const frozen = freezeInForce(freezes, target, now)
  const exceptRoles = [...new Set(freezes.flatMap(freeze => freeze.exceptRoles))]
  if (!frozen || exceptRoles.length === 0) return frozen
  const userId = await requesterId()
  const held: Freeze[] = []
  for (const freeze of freezes) {
    if (!(await hasRole(tx, project, userId, freeze.exceptRoles))) held.push(freeze)
  }
  return freezeInForce(held, target, now)
}

const requesterIdOf = async (tx: Stores, permit: DirectPermit | ApprovedPermit, project: Project) =>
  permit.kind === 'direct'
    ? permit.requester.user.id
    : (await tx.changeRequests.find(project.id, permit.changeRequest))?.requester.id

async function hasRole(
  tx: Stores,
  { organizationId }: Project,
  userId: number | undefined,
  roles: readonly string[],
): Promise<boolean> {
  if (userId === undefined || roles.length === 0) return false
  return (await tx.policies.eligible(organizationId, { users: [], roles })).has(userId)
}

const noteOf = ({ note }: DirectPermit): FreeObject | null => (note === undefined ? null : { note })

const isEmergency = (permit: Permit): boolean => permit.kind === 'direct' && permit.emergency !== null

/** Raises `ApprovalRequired`, and `forbidden` for an emergency of someone who cannot declare it. */
async function bypassOrRaise(
  tx: Stores,
  emergency: Emergency | null,
  project: Project,
  needed: ApprovalNeeded,
): Promise<Authorization> {
  if (!emergency) throw new ApprovalRequired(needed)
  if (!emergency.organizationIds.has(project.organizationId) && !(await isNamedByAll(tx, project, needed))) {
    throw forbidden('Only owners, and the emergency roles of the policies, can send X-Halyard-Emergency.')
  }
  return { trigger: { emergency: emergency.reason }, bypassed: { ...needed, emergency: emergency.reason } }
}

/** Raises `conflict` unless the permit holds for this target. */
export async function approvedRequest(
  tx: Stores,
  permit: Extract<Permit, { kind: 'approved' }>,
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

/** Every policy that the change meets names a role of the requester. A freeze alone names none. */
async function isNamedByAll(tx: Stores, project: Project, { policies, requester }: ApprovalNeeded): Promise<boolean> {
  for (const { emergencyRoles } of policies) {
    if (!(await hasRole(tx, project, requester.user.id, emergencyRoles))) return false
  }
  return policies.length > 0
}

/** Every policy that the change meets now has enough approvals of this content, by users who can still approve. */
async function requireSatisfied(
  tx: Stores,
  project: Project,
  request: Parameters<typeof policyStatuses>[2],
  policies: readonly ApprovalPolicy[],
  change: ProposedChange,
): Promise<readonly PolicyStatus[]> {
  const matching = policies.filter(policy => matchesPolicy(policy, change))
  const statuses = await policyStatuses(tx, project, request, matching)
  if (!statuses.every(({ isSatisfied }) => isSatisfied)) throw new ApprovalWithdrawn()
  return statuses
}

/** The most specific action that the change consists of. */
export const mainAction = (actions: ReadonlySet<Action>): Action => precedence.find(action => actions.has(action))!

const precedence: readonly Action[] = [
  'feature_flag.create',
  'feature_flag.delete',
  'feature_flag.enable',
  'feature_flag.update',
  'feature_flag.rollout',
  'feature_flag.disable',
  'cohort.update',
]

function flagFields(stored: Flag | undefined, flag: FlagContent): Pick<RequestedContent, 'base' | 'patch'> {
  const { createdAt, ...content } = contentOf(flag)
  // A new flag is created when the request is applied, not when it was opened.
  return stored
    ? changedFields({ ...contentOf(stored) }, { ...content, createdAt })
    : { base: {}, patch: { ...content } }
}

/** The fields that differ, before and after. */
export function changedFields(before: FreeObject, after: FreeObject): Pick<RequestedContent, 'base' | 'patch'> {
  const fields = Object.keys(after).filter(field => !isDeepStrictEqual(before[field], after[field]))
  const pick = (from: FreeObject) => Object.fromEntries(fields.map(field => [field, from[field]]))
  return { base: pick(before), patch: pick(after) }
}
