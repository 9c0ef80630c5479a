import { type Kysely, type Selectable, sql } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { countRows, readPage } from '../../../storage/read-page.ts'
import { saveVersioned } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'
import type { RecurrenceInterval } from './schedule-recurrence.ts'
import { neverDue, type ScheduledChange, type ScheduleFilter, type ScheduleStatus } from './scheduled-change.ts'

export function sqlScheduleStore(db: Kysely<Tables>) {
  const changes = () =>
    db
      .selectFrom('scheduled_changes')
      .innerJoin('users as creator', 'creator.id', 'scheduled_changes.created_by_id')
      .selectAll('scheduled_changes')
      .select(embeddedUser('creator'))

  return {
    async create(change: Omit<ScheduledChange, 'id'>): Promise<ScheduledChange> {
      const { id } = await db
        .insertInto('scheduled_changes')
        .values(fromChange(change))
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...change, id }
    },
    /** Throws `StaleWrite` unless the version is exactly one above the stored one. */
    async save(change: ScheduledChange): Promise<void> {
      await saveVersioned(db, 'scheduled_changes', change.id, fromChange(change))
    },
    async remove(changeId: number): Promise<void> {
      await db.deleteFrom('scheduled_changes').where('id', '=', changeId).execute()
    },
    async find(projectId: number, changeId: number): Promise<ScheduledChange | undefined> {
      const row = await changes()
        .where('scheduled_changes.project_id', '=', projectId)
        .where('scheduled_changes.id', '=', changeId)
        .executeTakeFirst()
      return row && toChange(row)
    },
    /** The other change of the pair. */
    async findPartner({
      id,
      projectId,
      pairId,
    }: Pick<ScheduledChange, 'id' | 'projectId' | 'pairId'>): Promise<ScheduledChange | undefined> {
      if (pairId === null) return undefined
      const row = await changes()
        .where('scheduled_changes.project_id', '=', projectId)
        .where('scheduled_changes.pair_id', '=', pairId)
        .where('scheduled_changes.id', '!=', id)
        .executeTakeFirst()
      return row && toChange(row)
    },
    /** Ordered by scheduled time. */
    list(projectId: number, { flagId, status }: ScheduleFilter, window: Window): Promise<PageOf<ScheduledChange>> {
      let query = changes().where('scheduled_changes.project_id', '=', projectId)
      if (flagId !== undefined) query = query.where('scheduled_changes.flag_id', '=', flagId)
      if (status !== undefined) query = query.where('scheduled_changes.status', '=', status)
      const ordered = query.orderBy('scheduled_changes.scheduled_at').orderBy('scheduled_changes.id')
      return readPage(ordered, window, toChange)
    },
    /** Due changes of all projects, earliest due first. */
    async listDue(now: Instant, limit: number): Promise<readonly ScheduledChange[]> {
      const rows = await changes()
        // A literal, so that both databases can use the partial index.
        .where('scheduled_changes.status', '=', sql.lit('pending'))
        .where('scheduled_changes.due_at', '<=', now)
        .orderBy('scheduled_changes.due_at')
        .orderBy('scheduled_changes.id')
        .limit(limit)
        .execute()
      return rows.map(toChange)
    },
    /** Pending changes of a project that are not paused, earliest due first. */
    async listNext(projectId: number, limit: number): Promise<readonly ScheduledChange[]> {
      const rows = await changes()
        .where('scheduled_changes.project_id', '=', projectId)
        .where('scheduled_changes.status', '=', sql.lit('pending'))
        .where('scheduled_changes.due_at', '<', neverDue)
        .orderBy('scheduled_changes.due_at')
        .orderBy('scheduled_changes.id')
        .limit(limit)
        .execute()
      return rows.map(toChange)
    },
    countPending: (projectId: number): Promise<number> =>
      countRows(db.selectFrom('scheduled_changes').where('project_id', '=', projectId).where('status', '=', 'pending')),
  }
}

const toChange = (row: Selectable<Tables['scheduled_changes']> & EmbeddedUser<'creator'>): ScheduledChange => ({
  id: row.id,
  projectId: row.project_id,
  flagId: row.flag_id,
  payload: JSON.parse(row.payload),
  scheduledAt: row.scheduled_at,
  status: row.status as ScheduleStatus,
  stepsDone: row.steps_done,
  dueAt: row.due_at,
  attempts: row.attempts,
  failureReason: row.failure_reason,
  executedAt: row.executed_at,
  lastExecutedAt: row.last_executed_at,
  recurrence: {
    isRecurring: row.is_recurring === 1,
    interval: row.recurrence_interval as RecurrenceInterval | null,
    cron: row.cron_expression,
    timeZone: row.timezone,
    firstAt: row.first_at,
    endDate: row.end_date,
  },
  pairId: row.pair_id,
  approval:
    row.change_request_id === null || row.content_hash === null
      ? null
      : { changeRequest: row.change_request_id, contentHash: row.content_hash },
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
})

const fromChange = (change: Omit<ScheduledChange, 'id'>): Omit<Selectable<Tables['scheduled_changes']>, 'id'> => ({
  project_id: change.projectId,
  flag_id: change.flagId,
  payload: JSON.stringify(change.payload),
  scheduled_at: change.scheduledAt,
  status: change.status,
  steps_done: change.stepsDone,
  due_at: change.dueAt,
  attempts: change.attempts,
  failure_reason: change.failureReason,
  executed_at: change.executedAt,
  last_executed_at: change.lastExecutedAt,
  is_recurring: Number(change.recurrence.isRecurring),
  recurrence_interval: change.recurrence.interval,
  cron_expression: change.recurrence.cron,
  timezone: change.recurrence.timeZone,
  first_at: change.recurrence.firstAt,
  end_date: change.recurrence.endDate,
  pair_id: change.pairId,
  change_request_id: change.approval?.changeRequest ?? null,
  content_hash: change.approval?.contentHash ?? null,
  created_by_id: change.createdBy.id,
  created_at: change.createdAt,
  updated_at: change.updatedAt,
  version: change.version,
})
