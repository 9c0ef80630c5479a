import { type Kysely, type Selectable, sql } from 'kysely'
import type { ChangeRequest, Decision, RequestFilter, RequestState } from '../../../domain/change-request.ts'
import type { Action } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { isSqlite } from '../../../storage/prepared-query.ts'
import { countRows, readPage } from '../../../storage/read-page.ts'
import { saveVersioned } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import {
  type EmbeddedUser,
  embeddedUser,
  type OptionalUser,
  readOptionalUser,
  readUser,
} from '../../identity/embedded-user.sql.ts'

const openStates = ['pending', 'approved', 'conflicted']

export function sqlChangeRequestStore(db: Kysely<Tables>) {
  const requests = () =>
    db
      .selectFrom('change_requests')
      .innerJoin('users as requester', 'requester.id', 'change_requests.requester_id')
      .leftJoin('users as applier', 'applier.id', 'change_requests.applied_by_id')
      .leftJoin('users as reviewer', 'reviewer.id', 'change_requests.reviewed_by_id')
      .selectAll('change_requests')
      .select([...embeddedUser('requester'), ...embeddedUser('applier'), ...embeddedUser('reviewer')])

  return {
    async create(request: Omit<ChangeRequest, 'id'>): Promise<ChangeRequest> {
      const { id } = await db
        .insertInto('change_requests')
        .values(fromRequest(request))
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...request, id }
    },
    /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
    async save(request: ChangeRequest): Promise<void> {
      await saveVersioned(db, 'change_requests', request.id, fromRequest(request))
    },
    async find(projectId: number, requestId: number): Promise<ChangeRequest | undefined> {
      const row = await requests()
        .where('change_requests.project_id', '=', projectId)
        .where('change_requests.id', '=', requestId)
        .executeTakeFirst()
      return row && toRequest(row)
    },
    /** Newest first. */
    list(projectId: number, filter: RequestFilter, window: Window): Promise<PageOf<ChangeRequest>> {
      let query = requests().where('change_requests.project_id', '=', projectId)
      if (filter.states) query = query.where('change_requests.state', 'in', [...filter.states])
      if (filter.actionKey !== undefined) query = query.where('change_requests.action_key', '=', filter.actionKey)
      if (filter.requesterId !== undefined) query = query.where('change_requests.requester_id', '=', filter.requesterId)
      if (filter.flagId !== undefined) query = query.where('change_requests.flag_id', '=', filter.flagId)
      if (filter.cohortId !== undefined) query = query.where('change_requests.cohort_id', '=', filter.cohortId)
      if (filter.isReviewOpen) {
        query = query
          .where('change_requests.emergency_reason', 'is not', null)
          .where('change_requests.reviewed_at', 'is', null)
      }
      const { undecidedBy } = filter
      if (undecidedBy !== undefined) {
        query = query.where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('change_request_decisions as made')
                .select('made.id')
                .whereRef('made.change_request_id', '=', 'change_requests.id')
                .whereRef('made.content_hash', '=', 'change_requests.content_hash')
                .where('made.user_id', '=', undecidedBy),
            ),
          ),
        )
      }
      return readPage(query.orderBy('change_requests.id', 'desc'), window, toRequest)
    },
    /** Requests of all projects that the job has to look at, earliest due first. */
    async listDue(now: Instant, limit: number): Promise<readonly ChangeRequest[]> {
      const rows = await requests()
        .where('change_requests.due_at', 'is not', null)
        .where('change_requests.due_at', '<=', now)
        .orderBy('change_requests.due_at')
        .orderBy('change_requests.id')
        .limit(limit)
        .execute()
      return rows.map(toRequest)
    },
    /** Requests that a user sends at the same moment wait for each other, so that none is opened twice. Flags are locked before. */
    async holdRequester(userId: number): Promise<void> {
      if (isSqlite(db)) return
      await db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
    },
    /** A pending request for the same content by the same user. */
    async findSame({
      projectId,
      contentHash,
      requester,
    }: Pick<ChangeRequest, 'projectId' | 'contentHash' | 'requester'>): Promise<ChangeRequest | undefined> {
      const row = await requests()
        .where('change_requests.project_id', '=', projectId)
        .where('change_requests.state', '=', 'pending')
        .where('change_requests.requester_id', '=', requester.id)
        .where('change_requests.content_hash', '=', contentHash)
        .executeTakeFirst()
      return row && toRequest(row)
    },
    /** Of all requesters, or of one. */
    countOpen(projectId: number, requesterId?: number): Promise<number> {
      const open = db.selectFrom('change_requests').where('project_id', '=', projectId).where('state', 'in', openStates)
      return countRows(requesterId === undefined ? open : open.where('requester_id', '=', requesterId))
    },

    /** A later decision of a user about the same content replaces the earlier one. */
    async decide(decision: Decision): Promise<void> {
      const { changeRequestId, user, contentHash, impact } = decision
      const made = {
        decision: decision.decision,
        reason: decision.reason,
        impact: impact && JSON.stringify(impact),
        decided_at: decision.decidedAt,
      }
      await db
        .insertInto('change_request_decisions')
        .values({ change_request_id: changeRequestId, user_id: user.id, content_hash: contentHash, ...made })
        .onConflict(oc => oc.columns(['change_request_id', 'user_id', 'content_hash']).doUpdateSet(made))
        .execute()
    },
    /** In the order in which they were made. */
    async listDecisions(requestIds: readonly number[]): Promise<readonly Decision[]> {
      if (requestIds.length === 0) return []
      const rows = await db
        .selectFrom('change_request_decisions')
        .innerJoin('users as approver', 'approver.id', 'change_request_decisions.user_id')
        .selectAll('change_request_decisions')
        .select(embeddedUser('approver'))
        .where('change_request_id', 'in', requestIds)
        .orderBy(sql`change_request_decisions.decided_at`)
        .orderBy('change_request_decisions.id')
        .execute()
      return rows.map(row => ({
        changeRequestId: row.change_request_id,
        user: readUser(row, 'approver'),
        decision: row.decision as Decision['decision'],
        reason: row.reason,
        contentHash: row.content_hash,
        impact: row.impact === null ? null : JSON.parse(row.impact),
        decidedAt: row.decided_at,
      }))
    },
  }
}

type RequestJoin = Selectable<Tables['change_requests']> &
  EmbeddedUser<'requester'> &
  OptionalUser<'applier'> &
  OptionalUser<'reviewer'>

const toRequest = (row: RequestJoin): ChangeRequest => ({
  id: row.id,
  projectId: row.project_id,
  kind: row.kind as ChangeRequest['kind'],
  flagId: row.flag_id,
  cohortId: row.cohort_id,
  actionKey: row.action_key as Action,
  state: row.state as RequestState,
  baseVersion: row.base_version,
  base: JSON.parse(row.base),
  patch: JSON.parse(row.patch),
  contentHash: row.content_hash,
  title: row.title,
  reason: row.reason,
  impact: row.impact === null ? null : JSON.parse(row.impact),
  requester: readUser(row, 'requester'),
  keyLabel: row.key_label,
  isByKey: row.is_by_key === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at,
  applyAt: row.apply_at,
  dueAt: row.due_at,
  appliedAt: row.applied_at,
  appliedVersion: row.applied_version,
  appliedBy: readOptionalUser(row, 'applier'),
  failure: row.failure,
  emergencyReason: row.emergency_reason,
  reviewNote: row.review_note,
  reviewedBy: readOptionalUser(row, 'reviewer'),
  reviewedAt: row.reviewed_at,
  version: row.version,
})

const fromRequest = (request: Omit<ChangeRequest, 'id'>): Omit<Selectable<Tables['change_requests']>, 'id'> => ({
  project_id: request.projectId,
  kind: request.kind,
  flag_id: request.flagId,
  cohort_id: request.cohortId,
  action_key: request.actionKey,
  state: request.state,
  base_version: request.baseVersion,
  base: JSON.stringify(request.base),
  patch: JSON.stringify(request.patch),
  content_hash: request.contentHash,
  title: request.title,
  reason: request.reason,
  impact: request.impact && JSON.stringify(request.impact),
  requester_id: request.requester.id,
  key_label: request.keyLabel,
  is_by_key: Number(request.isByKey),
  created_at: request.createdAt,
  updated_at: request.updatedAt,
  expires_at: request.expiresAt,
  apply_at: request.applyAt,
  due_at: request.dueAt,
  applied_at: request.appliedAt,
  applied_version: request.appliedVersion,
  applied_by_id: request.appliedBy?.id ?? null,
  failure: request.failure,
  emergency_reason: request.emergencyReason,
  review_note: request.reviewNote,
  reviewed_by_id: request.reviewedBy?.id ?? null,
  reviewed_at: request.reviewedAt,
  version: request.version,
})
