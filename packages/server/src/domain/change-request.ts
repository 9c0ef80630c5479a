import { createHash } from 'node:crypto'
import { type Instant, plusMilliseconds } from '../instant.ts'
import type { User } from '../tenancy.ts'
import type { CommonControl } from './account-tie.ts'
import type { Action, ApprovalPolicy, Impact } from './policy.ts'

export const requestStates = [
  'pending',
  'approved',
  'applied',
  'rejected',
  'cancelled',
  'expired',
  'failed',
  'conflicted',
] as const
/** `conflicted`: approved, but another change touched the same field; it waits for `rebase` and never applies. */
export type RequestState = (typeof requestStates)[number]

export type FreeObject = Readonly<Record<string, unknown>>

/** What is approved: fields of a flag or cohort, or a scheduled change of a flag. */
export interface RequestedContent {
  readonly kind: 'flag' | 'cohort' | 'schedule'
  /** Null for a flag that would be created. */
  readonly flagId: number | null
  readonly cohortId: number | null
  readonly actionKey: Action
  /** The version that the patch is based on; null when there was none. */
  readonly baseVersion: number | null
  /** The fields of the patch as they were in that version. */
  readonly base: FreeObject
  readonly patch: FreeObject
  readonly applyAt: Instant | null
}

export interface ChangeRequest extends RequestedContent {
  readonly id: number
  readonly projectId: number
  readonly state: RequestState
  readonly contentHash: string
  readonly title: string
  readonly reason: string
  /** As measured when the request was opened or last rebased. */
  readonly impact: Impact | null
  readonly requester: User
  readonly keyLabel: string | null
  readonly isByKey: boolean
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly expiresAt: Instant
  /** When the job has to look at it again; null once nothing is left to do. */
  readonly dueAt: Instant | null
  readonly appliedAt: Instant | null
  readonly appliedVersion: number | null
  readonly appliedBy: User | null
  /** Why it failed, conflicts or waits. */
  readonly failure: string | null
  /** Set when the change bypassed its policies; then a review has to be closed. */
  readonly emergencyReason: string | null
  readonly reviewNote: string | null
  readonly reviewedBy: User | null
  readonly reviewedAt: Instant | null
  readonly version: number
}

export interface Decision {
  readonly changeRequestId: number
  readonly user: User
  readonly decision: 'approved' | 'rejected'
  readonly reason: string
  /** The content that was decided about. A decision about other content does not count. */
  readonly contentHash: string
  readonly impact: Impact | null
  readonly decidedAt: Instant
}

export const isOpen = ({ state }: Pick<ChangeRequest, 'state'>): boolean =>
  state === 'pending' || state === 'approved' || state === 'conflicted'

/** Identifies what is approved: any change to it voids the decisions. */
export const contentHashOf = ({ kind, flagId, cohortId, baseVersion, patch, applyAt }: RequestedContent): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted([kind, flagId, cohortId, baseVersion, patch, applyAt])))
    .digest('hex')

/** The same content with another impact needs approval again: earlier decisions are void. */
export const hashWithImpact = (contentHash: string, { affected }: Impact): string =>
  createHash('sha256').update(`${contentHash} ${affected}`).digest('hex')

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  )
}

const hourMilliseconds = 3_600_000
export const expiresAfterHoursDefault = 14 * 24

/** The strictest policy decides. */
export function expiryOf(policies: readonly Pick<ApprovalPolicy, 'expiresAfterHours'>[], now: Instant): Instant {
  const hours = policies.length === 0 ? expiresAfterHoursDefault : Math.min(...policies.map(p => p.expiresAfterHours))
  return plusMilliseconds(now, hours * hourMilliseconds)
}

/** When the job looks at it: pending ones expire or miss their time, approved ones are applied. */
export function dueAtOf({
  state,
  expiresAt,
  applyAt,
  updatedAt,
}: Pick<ChangeRequest, 'state' | 'expiresAt' | 'applyAt' | 'updatedAt'>): Instant | null {
  if (state === 'approved') return applyAt ?? updatedAt
  if (state === 'pending') return applyAt !== null && applyAt < expiresAt ? applyAt : expiresAt
  return state === 'conflicted' ? expiresAt : null
}

/** The request in its next state, for a compare-and-set. */
export function moved(request: ChangeRequest, changes: Partial<ChangeRequest>, now: Instant): ChangeRequest {
  const next = { ...request, ...changes, updatedAt: now, version: request.version + 1 }
  return { ...next, dueAt: changes.dueAt ?? dueAtOf(next) }
}

/** A policy, and how far the decisions satisfy it. */
export interface PolicyStatus {
  readonly policy: ApprovalPolicy
  /** Ids of those who can approve now. */
  readonly eligible: ReadonlySet<number>
  /** Those among them who are not independent of the requester: their approval does not count. */
  readonly uncounted: ReadonlyMap<number, CommonControl>
  /** Ids of those whose approval of this content counts. */
  readonly approvedBy: readonly number[]
  readonly isSatisfied: boolean
}

/**
 * Only approvals of this very content count, by users who can approve now. The requester's own, and those of accounts that are not
 * independent of the requester's, count only where the policy allows self-approval.
 */
export function policyStatus(
  request: Pick<ChangeRequest, 'contentHash' | 'requester'>,
  policy: ApprovalPolicy,
  eligible: ReadonlySet<number>,
  dependent: ReadonlyMap<number, CommonControl>,
  decisions: readonly Decision[],
): PolicyStatus {
  const uncounted = new Map(policy.allowSelfApprove ? [] : [...dependent].filter(([id]) => eligible.has(id)))
  const approvedBy = decisions
    .filter(({ decision, contentHash }) => decision === 'approved' && contentHash === request.contentHash)
    .map(({ user }) => user.id)
    .filter(id => canDecide(request, { policy, eligible, uncounted }, id))
  return { policy, eligible, uncounted, approvedBy, isSatisfied: approvedBy.length >= policy.quorum }
}

export const canDecide = (
  request: Pick<ChangeRequest, 'requester'>,
  { policy, eligible, uncounted }: Pick<PolicyStatus, 'policy' | 'eligible' | 'uncounted'>,
  userId: number,
): boolean =>
  eligible.has(userId) && !uncounted.has(userId) && (policy.allowSelfApprove || userId !== request.requester.id)

export interface RequestFilter {
  /** Any of these. */
  readonly states?: readonly RequestState[]
  readonly actionKey?: string
  readonly requesterId?: number
  readonly flagId?: number
  readonly cohortId?: number
  /** Emergency changes whose review is not closed. */
  readonly isReviewOpen?: boolean
  /** Pending ones on which this user has not decided, by someone else or not. */
  readonly undecidedBy?: number
}
