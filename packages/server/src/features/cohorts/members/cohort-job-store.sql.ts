import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../../instant.ts'
import { insertRows } from '../../../storage/bulk-rows.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { CohortJob, NewCohortJob } from './cohort-job.ts'

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

export function sqlCohortJobStore(db: Kysely<Tables>) {
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
    /** Replaces the cohort's queued job, if any. */
    async put(job: NewCohortJob): Promise<void> {
      const columns = newJobColumns(job)
      await db
        .insertInto('cohort_jobs')
        .values({ cohort_id: job.cohortId, ...columns })
        .onConflict(conflict => conflict.column('cohort_id').doUpdateSet(columns))
        .execute()
    },
    /** For cohorts without a job. */
    async createAll(created: readonly NewCohortJob[]): Promise<void> {
      const rows = created.map(job => ({ cohort_id: job.cohortId, ...newJobColumns(job) }))
      await insertRows(db, 'cohort_jobs', rows)
    },
    /** The job that has been due the longest. */
    async findDue(now: Instant): Promise<CohortJob | undefined> {
      const row = await jobs()
        .where('cohort_jobs.due_at', '<=', now)
        .orderBy('cohort_jobs.due_at')
        .orderBy('cohort_jobs.cohort_id')
        .limit(1)
        .executeTakeFirst()
      return row && toJob(row)
    },
    async find(cohortId: number): Promise<CohortJob | undefined> {
      const row = await jobs().where('cohort_jobs.cohort_id', '=', cohortId).executeTakeFirst()
      return row && toJob(row)
    },
    /** False when the job was superseded or removed. */
    async advance(job: CohortJob): Promise<boolean> {
      const { position, processed, matched, total } = job
      return (await change(job, { position, processed, matched, total })).numUpdatedRows > 0n
    },
    /** Schedules a retry. */
    async postpone(job: CohortJob, dueAt: Instant): Promise<void> {
      await change(job, { attempts: job.attempts + 1, due_at: dueAt })
    },
    /** False when the job was superseded or removed. */
    async finish(job: CohortJob): Promise<boolean> {
      const result = await db
        .deleteFrom('cohort_jobs')
        .where('cohort_id', '=', job.cohortId)
        .where('revision', '=', job.revision)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    async remove(cohortId: number): Promise<void> {
      await db.deleteFrom('cohort_jobs').where('cohort_id', '=', cohortId).execute()
      await db.deleteFrom('cohort_imports').where('cohort_id', '=', cohortId).execute()
    },

    async addImport(cohortId: number, distinctIds: readonly string[]): Promise<void> {
      await db
        .insertInto('cohort_imports')
        .values({ cohort_id: cohortId, distinct_ids: JSON.stringify(distinctIds) })
        .execute()
    },
    /** The oldest chunk of distinct ids that is still to be imported. */
    async nextImport(
      cohortId: number,
    ): Promise<{ readonly id: number; readonly distinctIds: readonly string[] } | undefined> {
      const row = await db
        .selectFrom('cohort_imports')
        .select(['id', 'distinct_ids'])
        .where('cohort_id', '=', cohortId)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row && { id: row.id, distinctIds: JSON.parse(row.distinct_ids) }
    },
    async removeImport(id: number): Promise<void> {
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
