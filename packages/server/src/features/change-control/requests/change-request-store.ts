import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import type { ChangeRequest, Decision, RequestState } from './change-request.ts'

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

export interface ChangeRequestStore {
  create(request: Omit<ChangeRequest, 'id'>): Promise<ChangeRequest>
  /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
  save(request: ChangeRequest): Promise<void>
  find(projectId: number, requestId: number): Promise<ChangeRequest | undefined>
  /** Newest first. */
  list(projectId: number, filter: RequestFilter, window: Window): Promise<PageOf<ChangeRequest>>
  /** Requests of all projects that the job has to look at, earliest due first. */
  listDue(now: Instant, limit: number): Promise<readonly ChangeRequest[]>
  /** A pending request for the same content by the same user. */
  findSame(request: Pick<ChangeRequest, 'projectId' | 'contentHash' | 'requester'>): Promise<ChangeRequest | undefined>
  /** Of all requesters, or of one. */
  countOpen(projectId: number, requesterId?: number): Promise<number>

  /** A later decision of a user about the same content replaces the earlier one. */
  decide(decision: Decision): Promise<void>
  /** In the order in which they were made. */
  listDecisions(requestIds: readonly number[]): Promise<readonly Decision[]>
}
