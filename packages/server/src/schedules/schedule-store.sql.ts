import { type Kysely, type Selectable, sql } from 'kysely'
import { toUser } from '../identity/identity-store.sql.ts'
import type { ScheduledChangeRow, Tables } from '../storage/tables.ts'
import { StaleWrite } from '../stores.ts'
import type { ScheduleStore } from './schedule-store.ts'
import type { ScheduledChange, ScheduleStatus } from './scheduled-change.ts'

export function sqlScheduleStore(db: Kysely<Tables>): ScheduleStore {
  const changes = () =>
    db
      .selectFrom('scheduled_changes')
      .innerJoin('users', 'users.id', 'scheduled_changes.created_by_id')
      .selectAll('scheduled_changes')
      .select(['users.uuid', 'users.distinct_id', 'users.first_name', 'users.email', 'users.is_email_verified'])

  return {
    async create(change) {
      const { id } = await db
        .insertInto('scheduled_changes')
        .values(fromChange(change))
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...change, id }
    },
    async save(change) {
      const result = await db
        .updateTable('scheduled_changes')
        .set(fromChange(change))
        .where('id', '=', change.id)
        .where('version', '=', change.version - 1)
        .executeTakeFirst()
      if (result.numUpdatedRows === 0n) throw new StaleWrite()
    },
    async remove(changeId) {
      await db.deleteFrom('scheduled_changes').where('id', '=', changeId).execute()
    },
    async find(projectId, changeId) {
      const row = await changes()
        .where('scheduled_changes.project_id', '=', projectId)
        .where('scheduled_changes.id', '=', changeId)
        .executeTakeFirst()
      return row && toChange(row)
    },
    async list(projectId, { flagId, status }, window) {
      let matching = db.selectFrom('scheduled_changes').where('project_id', '=', projectId)
      if (flagId !== undefined) matching = matching.where('flag_id', '=', flagId)
      if (status !== undefined) matching = matching.where('status', '=', status)
      const count = await matching.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const rows = await changes()
        .where('scheduled_changes.id', 'in', matching.select('scheduled_changes.id'))
        .orderBy('scheduled_changes.scheduled_at')
        .orderBy('scheduled_changes.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: rows.map(toChange) }
    },
    async listDue(now, limit) {
      const rows = await changes()
        // A literal, so that both databases see that the partial index fits.
        .where('scheduled_changes.status', '=', sql.lit('pending'))
        .where('scheduled_changes.due_at', '<=', now)
        .orderBy('scheduled_changes.due_at')
        .orderBy('scheduled_changes.id')
        .limit(limit)
        .execute()
      return rows.map(toChange)
    },
    async countPending(projectId) {
      const row = await db
        .selectFrom('scheduled_changes')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('project_id', '=', projectId)
        .where('status', '=', 'pending')
        .executeTakeFirstOrThrow()
      return Number(row.n)
    },
  }
}

type ChangeJoin = Selectable<ScheduledChangeRow> & {
  [K in 'uuid' | 'distinct_id' | 'first_name' | 'email']: string
} & { is_email_verified: number }

const toChange = (row: ChangeJoin): ScheduledChange => ({
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
  createdBy: toUser({ ...row, id: row.created_by_id }),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
})

const fromChange = (change: Omit<ScheduledChange, 'id'>): Omit<ScheduledChangeRow, 'id'> => ({
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
  created_by_id: change.createdBy.id,
  created_at: change.createdAt,
  updated_at: change.updatedAt,
  version: change.version,
})
