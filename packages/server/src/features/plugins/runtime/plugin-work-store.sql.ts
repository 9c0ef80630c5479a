import { type Kysely, type Selectable, sql } from 'kysely'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { countRows, readPage } from '../../../storage/read-page.ts'
import { StaleWrite } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { contains } from '../../../storage/text-search.ts'
import {
  type LogFilter,
  type LogType,
  logLinesKept,
  type NewPluginJob,
  type NewPluginLog,
  type PlannedJob,
  type PluginJob,
  type PluginJobKind,
  type PluginLog,
  type PluginMetricsRow,
  type PluginMetricsTotal,
  storageCharactersMax,
  storageKeysMax,
  type UndeliveredFlag,
} from './plugin-work.ts'

const implausibleMilliseconds = 60 * 60_000

/** The job has no lease, or one from a node whose clock was far ahead. */
const isFree = (now: Instant) => sql<boolean>`(plugin_jobs.leased_until is null or plugin_jobs.leased_until < ${now}
  or plugin_jobs.leased_until > ${plusMilliseconds(now, implausibleMilliseconds)})`

/** What running plugins leaves behind: their storage, logs, jobs, schedules and counts. */
export function sqlPluginWorkStore(db: Kysely<Tables>) {
  const sums = <K extends 'config_id' | 'plugin_id'>(key: K) =>
    db
      .selectFrom('plugin_metrics')
      .innerJoin('plugin_configs', 'plugin_configs.id', 'plugin_metrics.config_id')
      .select(({ fn, ref }) => [
        (key === 'config_id' ? ref('plugin_metrics.config_id') : ref('plugin_configs.plugin_id')).as('id'),
        fn.sum<number>('plugin_metrics.calls').as('calls'),
        fn.sum<number>('plugin_metrics.failures').as('failures'),
        fn.sum<number>('plugin_metrics.dropped_events').as('dropped'),
        fn.sum<number>('plugin_metrics.cpu_ms').as('cpu'),
        fn.max('plugin_metrics.memory_bytes').as('memory'),
      ])
      .groupBy(key === 'config_id' ? 'plugin_metrics.config_id' : 'plugin_configs.plugin_id')

  return {
    async getValue(configId: number, key: string): Promise<unknown> {
      const row = await db
        .selectFrom('plugin_storage')
        .select('value')
        .where('config_id', '=', configId)
        .where('key', '=', key)
        .executeTakeFirst()
      return row ? JSON.parse(row.value) : null
    },
    /** Raises an Error when the configuration's storage would outgrow its limit. */
    async setValue(configId: number, key: string, value: unknown): Promise<void> {
      const text = JSON.stringify(value ?? null)
      await db
        .insertInto('plugin_storage')
        .values({ config_id: configId, key, value: text })
        .onConflict(conflict => conflict.columns(['config_id', 'key']).doUpdateSet({ value: text }))
        .execute()
      const used = await db
        .selectFrom('plugin_storage')
        .select(({ fn }) => [
          fn.countAll<number>().as('keys'),
          sql<number>`sum(length(key) + length(value))`.as('characters'),
        ])
        .where('config_id', '=', configId)
        .executeTakeFirstOrThrow()
      if (Number(used.keys) > storageKeysMax || Number(used.characters) > storageCharactersMax) {
        throw new Error('The storage of this plugin is full.')
      }
    },
    async removeValue(configId: number, key: string): Promise<void> {
      await db.deleteFrom('plugin_storage').where('config_id', '=', configId).where('key', '=', key).execute()
    },

    /** Lines of deleted configurations are skipped. */
    async appendLogs(logs: readonly NewPluginLog[]): Promise<void> {
      const ids = [...new Set(logs.map(log => log.configId))]
      if (ids.length === 0) return
      const rows = await db.selectFrom('plugin_configs').select('id').where('id', 'in', ids).execute()
      const there = new Set(rows.map(row => row.id))
      const kept = logs.filter(log => there.has(log.configId)).map(fromLog)
      if (kept.length > 0) await db.insertInto('plugin_logs').values(kept).execute()
    },
    /** Newest first. */
    listLogs(configId: number, filter: LogFilter, window: Window): Promise<PageOf<PluginLog>> {
      const matching = db.selectFrom('plugin_logs').selectAll().where(matchingLogs(configId, filter))
      return readPage(matching.orderBy('id', 'desc'), window, toLog)
    },
    /** Deletes old lines, and all but the newest of a configuration that logs too much. */
    async pruneLogs(before: Instant): Promise<void> {
      await db.deleteFrom('plugin_logs').where('logged_at', '<', before).execute()
      const crowded = await db
        .selectFrom('plugin_logs')
        .select('config_id')
        .groupBy('config_id')
        .having(({ fn }) => fn.countAll(), '>', logLinesKept)
        .execute()
      for (const { config_id } of crowded) {
        const oldest = await db
          .selectFrom('plugin_logs')
          .select('id')
          .where('config_id', '=', config_id)
          .orderBy('id', 'desc')
          .offset(logLinesKept)
          .limit(1)
          .executeTakeFirst()
        if (oldest) {
          await db.deleteFrom('plugin_logs').where('config_id', '=', config_id).where('id', '<=', oldest.id).execute()
        }
      }
    },

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
    countJobs: (configId: number, kind: PluginJobKind): Promise<number> =>
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
    listJobs(configId: number, window: Window): Promise<PageOf<PlannedJob>> {
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

    async addMetrics(rows: readonly PluginMetricsRow[]): Promise<void> {
      for (const row of rows) {
        await sql`
          insert into plugin_metrics (config_id, hour, calls, failures, dropped_events, cpu_ms, memory_bytes)
          select id, ${row.hour}, ${row.calls}, ${row.failures}, ${row.droppedEvents}, ${row.cpuMs}, ${row.memoryBytes}
          from plugin_configs where id = ${row.configId}
          on conflict (config_id, hour) do update set
            calls = plugin_metrics.calls + excluded.calls,
            failures = plugin_metrics.failures + excluded.failures,
            dropped_events = plugin_metrics.dropped_events + excluded.dropped_events,
            cpu_ms = plugin_metrics.cpu_ms + excluded.cpu_ms,
            memory_bytes = excluded.memory_bytes`.execute(db)
      }
    },
    async sumMetrics(configIds: readonly number[], since: Instant): Promise<ReadonlyMap<number, PluginMetricsTotal>> {
      if (configIds.length === 0) return new Map()
      const rows = await sums('config_id')
        .where('plugin_metrics.config_id', 'in', configIds)
        .where('plugin_metrics.hour', '>=', since)
        .execute()
      return new Map(rows.map(toTotal))
    },
    /** Hour by hour, hours without a call left out. */
    async listMetrics(configId: number, since: Instant): Promise<readonly PluginMetricsRow[]> {
      const rows = await db
        .selectFrom('plugin_metrics')
        .selectAll()
        .where('config_id', '=', configId)
        .where('hour', '>=', since)
        .orderBy('hour')
        .execute()
      return rows.map(row => ({
        configId: row.config_id,
        hour: row.hour,
        calls: Number(row.calls),
        failures: Number(row.failures),
        droppedEvents: Number(row.dropped_events),
        cpuMs: Number(row.cpu_ms),
        memoryBytes: Number(row.memory_bytes),
      }))
    },
    async sumPluginMetrics(
      pluginIds: readonly number[],
      since: Instant,
    ): Promise<ReadonlyMap<number, PluginMetricsTotal>> {
      if (pluginIds.length === 0) return new Map()
      const rows = await sums('plugin_id')
        .where('plugin_configs.plugin_id', 'in', pluginIds)
        .where('plugin_metrics.hour', '>=', since)
        .execute()
      return new Map(rows.map(toTotal))
    },

    /** From now on, changes of the project's flags are delivered; earlier ones are not. */
    async startFlagCursors(projectId: number): Promise<void> {
      await sql`
        insert into plugin_flag_cursors (flag_id, version)
        select id, version from flags where project_id = ${projectId}
        on conflict (flag_id) do update set version = excluded.version`.execute(db)
    },
    /** Flags with versions that are not delivered yet. */
    async listUndelivered(projectId: number, limit: number): Promise<readonly UndeliveredFlag[]> {
      const rows = await db
        .selectFrom('flags')
        .leftJoin('plugin_flag_cursors', 'plugin_flag_cursors.flag_id', 'flags.id')
        .select(['flags.id', 'flags.version', 'plugin_flag_cursors.version as delivered'])
        .where('flags.project_id', '=', projectId)
        .where(sql<boolean>`flags.version > coalesce(plugin_flag_cursors.version, 0)`)
        .orderBy('flags.updated_at')
        .orderBy('flags.id')
        .limit(limit)
        .execute()
      return rows.map(row => ({ flagId: row.id, version: row.version, deliveredVersion: row.delivered ?? 0 }))
    },
    /** Marks versions up to this one as delivered. Raises StaleWrite when another node has done so meanwhile. */
    async markDelivered({ flagId, deliveredVersion }: UndeliveredFlag, version: number): Promise<void> {
      const moved = await db
        .updateTable('plugin_flag_cursors')
        .set({ version })
        .where('flag_id', '=', flagId)
        .where('version', '=', deliveredVersion)
        .executeTakeFirst()
      if (moved.numUpdatedRows > 0n) return
      const added = await db
        .insertInto('plugin_flag_cursors')
        .values({ flag_id: flagId, version })
        .onConflict(conflict => conflict.column('flag_id').doNothing())
        .executeTakeFirst()
      if ((added.numInsertedOrUpdatedRows ?? 0n) === 0n) throw new StaleWrite()
    },
  }
}

const matchingLogs = (configId: number, filter: LogFilter) => () => {
  const conditions = [sql<boolean>`config_id = ${configId}`]
  if (filter.before !== undefined) conditions.push(sql`logged_at < ${filter.before}`)
  if (filter.after !== undefined) conditions.push(sql`logged_at > ${filter.after}`)
  if (filter.types) conditions.push(sql`type in (${sql.join(filter.types)})`)
  if (filter.search) {
    conditions.push(contains('message', filter.search))
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const toLog = (row: Selectable<Tables['plugin_logs']>): PluginLog => ({
  id: row.id,
  configId: row.config_id,
  loggedAt: row.logged_at,
  source: row.source as NewPluginLog['source'],
  type: row.type as LogType,
  message: row.message,
  instanceId: row.instance_id,
})

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

const fromLog = (log: NewPluginLog) => ({
  config_id: log.configId,
  logged_at: log.loggedAt,
  source: log.source,
  type: log.type,
  message: log.message,
  instance_id: log.instanceId,
})

const toTotal = (row: {
  id: number
  calls: number
  failures: number
  dropped: number
  cpu: number
  memory: number
}): [number, PluginMetricsTotal] => [
  Number(row.id),
  {
    calls: Number(row.calls),
    failures: Number(row.failures),
    droppedEvents: Number(row.dropped),
    cpuMs: Number(row.cpu),
    memoryBytes: Number(row.memory),
  },
]
