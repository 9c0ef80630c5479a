import type { ApprovalNeeded } from '../../../domain/approval.ts'
import { type ChangeRequest, contentHashOf, dueAtOf, expiryOf } from '../../../domain/change-request.ts'
import type { Action } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project, User } from '../../../tenancy.ts'
import { recordRequest } from './record-request.ts'

const openPerProjectMax = 1000
const openPerMemberMax = 100

/** What the requester enters. */
export interface RequestNote {
  readonly title?: string | undefined
  readonly reason?: string | undefined
}

/**
 * Opens a change request, or returns the pending one for the same content by the same user. A change that no policy names is approved at
 * once. Raises `invalid` when the project has too many open requests.
 */
export async function openRequest(
  tx: Stores,
  project: Project,
  needed: ApprovalNeeded,
  { title, reason = '' }: RequestNote,
  now: Instant,
): Promise<ChangeRequest> {
  const request = draftOf(needed, { title, reason }, now)
  await tx.changeRequests.holdRequester(needed.requester.user.id)
  const same = await tx.changeRequests.findSame(request)
  if (same) return same
  await checkOpen(tx, project, needed.requester.user)
  const opened = await tx.changeRequests.create(request)
  await recordRequest(tx, authorFor(needed), project, opened, 'change_requested', { reason }, now)
  return opened
}

/** Raises `invalid` when the project or the requester has too many open requests. */
async function checkOpen(tx: Stores, project: Project, { id }: User): Promise<void> {
  if ((await tx.changeRequests.countOpen(project.id, id)) >= openPerMemberMax) {
    throw invalid(
      null,
      'limit_reached',
      `You have ${openPerMemberMax} open change requests in this project, the most there can be. Cancel some first.`,
    )
  }
  if ((await tx.changeRequests.countOpen(project.id)) >= openPerProjectMax) {
    throw invalid(
      null,
      'limit_reached',
      `The project has ${openPerProjectMax} open change requests, the most there can be. Decide about some first.`,
    )
  }
}

/** Records a change that bypassed its policies; the request stays listed until its review is closed. */
export async function openReview(
  tx: Stores,
  project: Project,
  { emergency, ...needed }: ApprovalNeeded & { readonly emergency: string },
  applied: { readonly flagId: number | null; readonly version: number },
  now: Instant,
): Promise<ChangeRequest> {
  const draft = draftOf({ ...needed, flagId: applied.flagId }, { title: undefined, reason: emergency }, now)
  const request = await tx.changeRequests.create({
    ...draft,
    state: 'applied',
    dueAt: null,
    appliedAt: now,
    appliedVersion: applied.version,
    appliedBy: needed.requester.user,
    emergencyReason: emergency,
  })
  await recordRequest(tx, authorFor(needed), project, request, 'emergency_applied', { reason: emergency }, now)
  return request
}

const authorFor = ({ requester }: ApprovalNeeded) => ({
  user: requester.user,
  key: { label: requester.keyLabel ?? '' },
  origin: requester.origin,
})

/** The request as it would be opened. */
export function draftOf(
  needed: ApprovalNeeded,
  { title, reason }: { readonly title: string | undefined; readonly reason: string },
  now: Instant,
): Omit<ChangeRequest, 'id'> {
  const { policies, requester, name, gaining: _gaining, ...content } = needed
  const request = {
    ...content,
    state: policies.length > 0 ? 'pending' : 'approved',
    contentHash: contentHashOf(content),
    title: title || titleOf(needed, name),
    reason,
    requester: requester.user,
    keyLabel: requester.keyLabel,
    isByKey: requester.isByKey,
    createdAt: now,
    updatedAt: now,
    expiresAt: expiryOf(policies, now),
    appliedAt: null,
    appliedVersion: null,
    appliedBy: null,
    failure: null,
    emergencyReason: null,
    reviewNote: null,
    reviewedBy: null,
    reviewedAt: null,
    version: 1,
  } as const
  return { ...request, dueAt: dueAtOf(request) }
}

const titleOf = ({ kind, actionKey }: ApprovalNeeded, name: string): string =>
  `${kind === 'schedule' ? 'Schedule: ' : ''}${verbs[actionKey]} ${name}`

const verbs: Readonly<Record<Action, string>> = {
  'feature_flag.create': 'Create',
  'feature_flag.update': 'Update',
  'feature_flag.rollout': 'Change rollout of',
  'feature_flag.enable': 'Enable',
  'feature_flag.disable': 'Disable',
  'feature_flag.delete': 'Delete',
  'cohort.update': 'Update',
}
