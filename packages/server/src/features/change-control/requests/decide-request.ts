import type { CommonControl } from '../../../domain/account-tie.ts'
import { type ChangeRequest, canDecide, isOpen, moved, type PolicyStatus } from '../../../domain/change-request.ts'
import type { Impact } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import { forbidden, invalid, missing, Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, adminLevel, type Project } from '../../../tenancy.ts'
import { requireCanEdit, requireNoViewer } from '../../access/grants.ts'
import { requesterOf } from '../write-request.ts'
import { requiredPolicies, requiredPoliciesOfAll } from './preview-request.ts'
import { recordRequest } from './record-request.ts'

/** Raises `missing`. */
export async function getRequest(tx: Stores, project: Pick<Project, 'id'>, requestId: number): Promise<ChangeRequest> {
  const request = await tx.changeRequests.find(project.id, requestId)
  if (!request) throw missing('Change request')
  return request
}

export interface NewDecision {
  readonly requestId: number
  readonly decision: 'approved' | 'rejected'
  readonly reason: string
  /** The content that the approver has seen; undefined means the present one. */
  readonly contentHash: string | undefined
  /** As measured right before the decision. */
  readonly impact: Impact | null
}

/** Records a decision. The last approval that is needed makes the request `approved`; one rejection makes it `rejected`. */
export async function decideRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, decision, reason, contentHash, impact }: NewDecision,
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (contentHash !== undefined && contentHash !== request.contentHash) {
    throw new Problem('conflict', 'The change request was edited since you read it. Review it again.')
  }
  if (request.state !== 'pending') throw notInState(request, decision === 'approved' ? 'approved' : 'rejected')
  const statuses = await requiredPolicies(tx, project, request)
  requireCanDecide(actor, request, statuses)
  await tx.changeRequests.decide({
    changeRequestId: request.id,
    user: actor.user,
    decision,
    reason,
    contentHash: request.contentHash,
    impact,
    decidedAt: now,
  })
  const state = decision === 'rejected' ? 'rejected' : await stateAfterApproval(tx, project, request)
  // Saved even if it stays pending: two approvals at the same time must see each other.
  const next = moved(request, { state, failure: null }, now)
  await tx.changeRequests.save(next)
  await recordRequest(
    tx,
    actor,
    project,
    next,
    `change_${decision}`,
    { reason, content_hash: request.contentHash },
    now,
  )
  return next
}

/** Raises `forbidden`. */
function requireCanDecide(actor: Actor, request: ChangeRequest, statuses: readonly PolicyStatus[]): void {
  const own = statuses.filter(status => canDecide(request, status, actor.user.id))
  if (own.length === 0) {
    const control = statuses.map(({ uncounted }) => uncounted.get(actor.user.id)).find(each => each !== undefined)
    throw forbidden(
      control
        ? `Your approval does not count: ${explained(control)}.`
        : 'You cannot decide about this change request. Its policies name who can.',
    )
  }
  requireSignIn(
    actor,
    own.every(({ policy }) => policy.allowKeys),
  )
}

/** `you invited the requester lately`, `the requester promoted you lately, through other accounts` */
function explained({ reason, isIndirect }: CommonControl): string {
  const [verb, by] = reason.split('_')
  const clause = by === 'by' ? `the requester ${verb} you lately` : `you ${verb} the requester lately`
  return isIndirect ? `${clause}, through other accounts` : clause
}

/** Raises `forbidden` for an API key, unless keys are allowed; a service key never decides. */
function requireSignIn({ key, isService }: Actor, areKeysAllowed = false): void {
  if (key.isSession || (areKeysAllowed && !isService)) return
  throw forbidden('Decisions need a signed-in person. Open the change request in the dashboard.')
}

/** `approved` when no policy needs more approvals of the present content. */
export async function stateAfterApproval(
  tx: Stores,
  project: Project,
  request: ChangeRequest,
): Promise<'approved' | 'pending'> {
  return stateBy(await requiredPolicies(tx, project, request))
}

const stateBy = (statuses: readonly PolicyStatus[]): 'approved' | 'pending' =>
  statuses.every(({ isSatisfied }) => isSatisfied) ? 'approved' : 'pending'

/** Only the requester or an admin. */
export async function cancelRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, reason }: { readonly requestId: number; readonly reason: string },
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (!canCancel(actor, project, request)) {
    throw forbidden('Only the requester or an admin can cancel a change request.')
  }
  if (!isOpen(request)) throw notInState(request, 'cancelled')
  const next = moved(request, { state: 'cancelled' }, now)
  await tx.changeRequests.save(next)
  await recordRequest(tx, actor, project, next, 'change_cancelled', { reason }, now)
  return next
}

export const canCancel = (actor: Actor, project: Project, request: ChangeRequest): boolean =>
  request.requester.id === actor.user.id || (actor.levels.get(project.organizationId) ?? 0) >= adminLevel

/** Whether the requester is no longer an active member of the organization. */
export const hasLeft = async (tx: Stores, project: Project, { requester }: ChangeRequest): Promise<boolean> =>
  !(await tx.organizations.findMember(project.organizationId, requester.uuid))

/** Takes over the request of someone who left the organization. Raises `conflict` while the requester is a member. */
export async function claimRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, reason }: { readonly requestId: number; readonly reason: string },
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (!isOpen(request)) throw notInState(request, 'claimed')
  const { requester } = request
  if (!(await hasLeft(tx, project, request))) {
    throw new Problem('conflict', `${requester.email} is still a member of the organization.`)
  }
  const { user, keyLabel, isByKey } = requesterOf(actor)
  const next = moved(request, { requester: user, keyLabel, isByKey }, now)
  await tx.changeRequests.save(next)
  await recordRequest(tx, actor, project, next, 'change_claimed', { reason, claimed_from: requester.email }, now)
  return next
}

/** Someone else closes the review of an emergency change: an approver, or any admin. */
export async function reviewRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, note }: { readonly requestId: number; readonly note: string },
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (request.emergencyReason === null) throw invalid(null, 'invalid_input', 'Only an emergency change is reviewed.')
  if (request.reviewedAt !== null) throw invalid(null, 'invalid_input', 'The review is already closed.')
  if (note === '') throw invalid('note', 'required', 'note is required: say what the review found.')
  const isAdmin = (actor.levels.get(project.organizationId) ?? 0) >= adminLevel
  const dependent = await tx.accountTies.dependentOn(request.requester.id, [actor.user.id], now)
  if (!isAdmin || request.requester.id === actor.user.id || dependent.size > 0) {
    throw forbidden('An emergency change is reviewed by another admin.')
  }
  requireSignIn(actor)
  const next = moved(request, { reviewNote: note, reviewedBy: actor.user, reviewedAt: now }, now)
  await tx.changeRequests.save(next)
  await recordRequest(tx, actor, project, next, 'emergency_reviewed', { reason: note }, now)
  return next
}

const released = 'No policy needs more approvals for it.'

/** Approves requests that no policy blocks any longer, after policies have changed. Bounded by the number of open requests. */
export async function releaseRequests(tx: Stores, actor: Actor, project: Project, now: Instant): Promise<void> {
  const page = await tx.changeRequests.list(project.id, { states: ['pending'] }, { limit: 1000, offset: 0 })
  const statuses = await requiredPoliciesOfAll(tx, project, page.items)
  for (const [index, request] of page.items.entries()) {
    if (stateBy(statuses[index]!) === 'pending') continue
    const next = moved(request, { state: 'approved' }, now)
    await tx.changeRequests.save(next)
    await recordRequest(tx, actor, project, next, 'change_released', { reason: released }, now)
  }
}

export const notInState = ({ state }: ChangeRequest, wanted: string): Problem =>
  new Problem('conflict', `The change request is ${state}; it cannot be ${wanted}.`)

/** Raises `forbidden` for those who cannot edit what the request changes. */
export async function requireCanEditTarget(
  tx: Stores,
  actor: Actor,
  project: Project,
  request: ChangeRequest,
): Promise<void> {
  const flag = request.flagId === null ? undefined : await tx.flags.find(project.id, request.flagId)
  if (flag) await requireCanEdit(tx, actor, project, flag)
  else await requireNoViewer(tx, actor, project)
}
