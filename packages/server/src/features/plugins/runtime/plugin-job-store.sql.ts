import { type Kysely, type Selectable, sql } from 'kysely'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { countRows, readPage } from '../../../storage/read-page.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { NewPluginJob, PlannedJob, PluginJob, PluginJobKind } from './plugin-work.ts'

const implausibleMilliseconds = 60 * 60_000

/** The job has no lease, or one from a node whose clock was far ahead. */
const isFree = (now: Instant) => sql<boolean>`(plugin_jobs.leased_until is null or plugin_jobs.leased_until < ${now}
  or plugin_jobs.leased_until > ${plusMilliseconds(now, implausibleMilliseconds)})`

/** Work that waits for plugins, and which of their schedules have run. */
export function sqlPluginJobStore(db: Kysely<Tables>) {
  return {
    async enqueue(job: NewPluginJob, now: Instant): Promise<number> {
      const { id } = await db
        .insertInto('plugin_jobs')
        .values(fromJob(job, now, null))
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    /**
     * Enqueues jobs under a lease of this node, so that it runs them at once, and another node after the lease. With null
     * there is no lease. Those of deleted configurations are skipped.
     */
    async enqueueTaken(
      jobs: readonly NewPluginJob[],
      now: Instant,
      until: Instant | null,
    ): Promise<readonly PluginJob[]> {
      const ids = [...new Set(jobs.map(job => job.configId))]
      if (ids.length === 0) return []
      const rows = await db.selectFrom('plugin_configs').select('id').where('id', 'in', ids).execute()
      const there = new Set(rows.map(row => row.id))
      const planned: PluginJob[] = []
      for (const job of jobs) {
        if (!there.has(job.configId)) continue
        const row = fromJob(job, now, until)
        const { id } = await db.insertInto('plugin_jobs').values(row).returning('id').executeTakeFirstOrThrow()
        planned.push({ ...job, id, attempts: row.attempts })
      }
      return planned
    },
    count: (configId: number, kind: PluginJobKind): Promise<number> =>
      countRows(db.selectFrom('plugin_jobs').where('config_id', '=', configId).where('kind', '=', kind)),
    /** Jobs of enabled configurations that are due and that no node holds. */
    async listDue(now: Instant, limit: number): Promise<readonly PluginJob[]> {
      const rows = await db
        .selectFrom('plugin_jobs')
        .innerJoin('plugin_configs', 'plugin_configs.id', 'plugin_jobs.config_id')
        .selectAll('plugin_jobs')
        .where('plugin_jobs.run_at', '<=', now)
        .where('plugin_configs.enabled', '=', 1)
        .where(isFree(now))
        .orderBy('plugin_jobs.run_at')
        .orderBy('plugin_jobs.id')
        .limit(limit)
        .execute()
      return rows.map(toJob)
    },
    /** Queued jobs of a configuration and flag changes that wait for delivery, the next one first. */
    list(configId: number, window: Window): Promise<PageOf<PlannedJob>> {
      const planned = db
        .selectFrom('plugin_jobs')
        .selectAll()
        .where('config_id', '=', configId)
        .where('kind', 'in', ['job', 'flag_change'])
      return readPage(planned.orderBy('run_at').orderBy('id'), window, toJob)
    },
    /** Acquires a job's lease for this node; false when another node was quicker. */
    async lease(job: PluginJob, now: Instant, until: Instant): Promise<boolean> {
      const result = await db
        .updateTable('plugin_jobs')
        .set({ leased_until: until, attempts: job.attempts + 1 })
        .where('id', '=', job.id)
        .where('attempts', '=', job.attempts)
        .where(isFree(now))
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },
    async finish(jobId: number): Promise<void> {
      await db.deleteFrom('plugin_jobs').where('id', '=', jobId).execute()
    },
    /** Gives the job back, to be run again then, with another payload if there is one. */
    async postpone(jobId: number, runAt: Instant, payload?: unknown): Promise<void> {
      const other = payload === undefined ? {} : { payload: JSON.stringify(payload) }
      await db
        .updateTable('plugin_jobs')
        .set({ run_at: runAt, leased_until: null, ...other })
        .where('id', '=', jobId)
        .execute()
    },

    /**
     * True for exactly one caller for each period of a task. A period from `implausible` on was claimed by a clock that was wrong, and does not
     * count.
     */
    async claimPeriod(configId: number, task: string, period: number, implausible: number): Promise<boolean> {
      const moved = await db
        .updateTable('plugin_schedules')
        .set({ period })
        .where('config_id', '=', configId)
        .where('task', '=', task)
        .where(({ or, eb }) => or([eb('period', '<', period), eb('period', '>=', implausible)]))
        .executeTakeFirst()
      if (moved.numUpdatedRows > 0n) return true
      const added = await db
        .insertInto('plugin_schedules')
        .columns(['config_id', 'task', 'period'])
        .expression(eb =>
          eb
            .selectFrom('plugin_configs')
            .select(({ val }) => ['id', val(task).as('task'), sql<number>`cast(${period} as integer)`.as('period')])
            .where('id', '=', configId),
        )
        .onConflict(conflict => conflict.columns(['config_id', 'task']).doNothing())
        .executeTakeFirst()
      return (added.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
  }
}

const toJob = (row: Selectable<Tables['plugin_jobs']>): PlannedJob => ({
  id: row.id,
  configId: row.config_id,
  kind: row.kind as PluginJobKind,
  name: row.name,
  payload: JSON.parse(row.payload),
  runAt: row.run_at,
  attempts: row.attempts,
  leasedUntil: row.leased_until,
  createdAt: row.created_at,
})

const fromJob = (job: NewPluginJob, now: Instant, until: Instant | null) => ({
  config_id: job.configId,
  kind: job.kind,
  name: job.name,
  payload: JSON.stringify(job.payload ?? null),
  run_at: job.runAt,
  attempts: until === null ? 0 : 1,
  leased_until: until,
  created_at: now,
})
