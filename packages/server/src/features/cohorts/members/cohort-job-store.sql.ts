import type { Kysely, Selectable } from 'kysely'
import { insertRows } from '../../../storage/bulk-rows.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { CohortJob, CohortJobStore, NewCohortJob } from './cohort-job-store.ts'

const newJobColumns = ({ task, total, revision, dueAt }: NewCohortJob) => ({
  task: JSON.stringify(task),
  position: 0,
  processed: 0,
  matched: 0,
  total,
  attempts: 0,
  due_at: dueAt,
  revision,
})

export function sqlCohortJobStore(db: Kysely<Tables>): CohortJobStore {
  const jobs = () =>
    db
      .selectFrom('cohort_jobs')
      .innerJoin('cohorts', 'cohorts.id', 'cohort_jobs.cohort_id')
      .selectAll('cohort_jobs')
      .select('cohorts.project_id')
  const change = (job: CohortJob, columns: Partial<Tables['cohort_jobs']>) =>
    db
      .updateTable('cohort_jobs')
      .set(columns)
      .where('cohort_id', '=', job.cohortId)
      .where('revision', '=', job.revision)
      .executeTakeFirst()

  return {
    async put(job) {
      const columns = newJobColumns(job)
      await db
        .insertInto('cohort_jobs')
        .values({ cohort_id: job.cohortId, ...columns })
        .onConflict(conflict => conflict.column('cohort_id').doUpdateSet(columns))
        .execute()
    },
    async createAll(created) {
      const rows = created.map(job => ({ cohort_id: job.cohortId, ...newJobColumns(job) }))
      await insertRows(db, 'cohort_jobs', rows)
    },
    async findDue(now) {
      const row = await jobs()
        .where('cohort_jobs.due_at', '<=', now)
        .orderBy('cohort_jobs.due_at')
        .orderBy('cohort_jobs.cohort_id')
        .limit(1)
        .executeTakeFirst()
      return row && toJob(row)
    },
    async find(cohortId) {
      const row = await jobs().where('cohort_jobs.cohort_id', '=', cohortId).executeTakeFirst()
      return row && toJob(row)
    },
    async advance(job) {
      const { position, processed, matched, total } = job
      return (await change(job, { position, processed, matched, total })).numUpdatedRows > 0n
    },
    async postpone(job, dueAt) {
      await change(job, { attempts: job.attempts + 1, due_at: dueAt })
    },
    async finish(job) {
      const result = await db
        .deleteFrom('cohort_jobs')
        .where('cohort_id', '=', job.cohortId)
        .where('revision', '=', job.revision)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    async remove(cohortId) {
      await db.deleteFrom('cohort_jobs').where('cohort_id', '=', cohortId).execute()
      await db.deleteFrom('cohort_imports').where('cohort_id', '=', cohortId).execute()
    },

    async addImport(cohortId, distinctIds) {
      await db
        .insertInto('cohort_imports')
        .values({ cohort_id: cohortId, distinct_ids: JSON.stringify(distinctIds) })
        .execute()
    },
    async nextImport(cohortId) {
      const row = await db
        .selectFrom('cohort_imports')
        .select(['id', 'distinct_ids'])
        .where('cohort_id', '=', cohortId)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row && { id: row.id, distinctIds: JSON.parse(row.distinct_ids) }
    },
    async removeImport(id) {
      await db.deleteFrom('cohort_imports').where('id', '=', id).execute()
    },
  }
}

const toJob = (row: Selectable<Tables['cohort_jobs']> & { project_id: number }): CohortJob => ({
  cohortId: row.cohort_id,
  projectId: row.project_id,
  task: JSON.parse(row.task),
  position: row.position,
  processed: row.processed,
  matched: row.matched,
  total: row.total,
  attempts: row.attempts,
  revision: row.revision,
})
