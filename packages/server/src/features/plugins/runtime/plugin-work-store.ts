import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'

/** What running plugins leaves behind: their storage, logs, jobs, schedules and counts. */
export interface PluginWorkStore {
  getValue(configId: number, key: string): Promise<unknown>
  /** Raises an Error when the configuration's storage would outgrow its limit. */
  setValue(configId: number, key: string, value: unknown): Promise<void>
  removeValue(configId: number, key: string): Promise<void>

  /** Lines of deleted configurations are skipped. */
  appendLogs(logs: readonly NewPluginLog[]): Promise<void>
  /** Newest first. */
  listLogs(configId: number, filter: LogFilter, window: Window): Promise<PageOf<PluginLog>>
  /** Deletes old lines, and all but the newest of a configuration that logs too much. */
  pruneLogs(before: Instant): Promise<void>

  enqueue(job: NewPluginJob, now: Instant): Promise<number>
  /**
   * Enqueues jobs under a lease of this node, so that it runs them at once, and another node after the lease. With null
   * there is no lease. Those of deleted configurations are skipped.
   */
  enqueueTaken(jobs: readonly NewPluginJob[], now: Instant, until: Instant | null): Promise<readonly PluginJob[]>
  countJobs(configId: number, kind: PluginJobKind): Promise<number>
  /** Queued jobs of a configuration and flag changes that wait for delivery, the next one first. */
  listJobs(configId: number, window: Window): Promise<PageOf<PlannedJob>>
  /** Jobs of enabled configurations that are due and that no node holds. */
  listDue(now: Instant, limit: number): Promise<readonly PluginJob[]>
  /** Acquires a job's lease for this node; false when another node was quicker. */
  lease(job: PluginJob, now: Instant, until: Instant): Promise<boolean>
  finish(jobId: number): Promise<void>
  /** Gives the job back, to be run again then, with another payload if there is one. */
  postpone(jobId: number, runAt: Instant, payload?: unknown): Promise<void>

  /**
   * True for exactly one caller for each period of a task. A period from `implausible` on was claimed by a clock that was wrong, and does not
   * count.
   */
  claimPeriod(configId: number, task: string, period: number, implausible: number): Promise<boolean>

  addMetrics(rows: readonly PluginMetricsRow[]): Promise<void>
  sumMetrics(configIds: readonly number[], since: Instant): Promise<ReadonlyMap<number, PluginMetricsTotal>>
  /** Hour by hour, hours without a call left out. */
  listMetrics(configId: number, since: Instant): Promise<readonly PluginMetricsRow[]>
  sumPluginMetrics(pluginIds: readonly number[], since: Instant): Promise<ReadonlyMap<number, PluginMetricsTotal>>

  /** From now on, changes of the project's flags are delivered; earlier ones are not. */
  startFlagCursors(projectId: number): Promise<void>
  /** Flags with versions that are not delivered yet. */
  listUndelivered(projectId: number, limit: number): Promise<readonly UndeliveredFlag[]>
  /** Marks versions up to this one as delivered. Raises StaleWrite when another node has done so meanwhile. */
  markDelivered(flag: UndeliveredFlag, version: number): Promise<void>
}

export interface UndeliveredFlag {
  readonly flagId: number
  readonly deliveredVersion: number
  readonly version: number
}

export const logTypes = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const
export type LogType = (typeof logTypes)[number]

export interface NewPluginLog {
  readonly configId: number
  readonly loggedAt: Instant
  readonly source: 'SYSTEM' | 'PLUGIN' | 'CONSOLE'
  readonly type: LogType
  readonly message: string
  readonly instanceId: string
}

export type PluginLog = NewPluginLog & { readonly id: number }

export interface LogFilter {
  readonly before?: Instant
  readonly after?: Instant
  readonly search?: string
  readonly types?: readonly LogType[]
}

/**
 * `job`: one of the plugin's own; `flag_change`: a committed change for `onFlagChange`; `events`: some for `onEvent` and
 * `composeWebhook`; `task`: a period of `runEveryMinute` or the like that has begun.
 */
export type PluginJobKind = 'job' | 'flag_change' | 'events' | 'task'

export interface NewPluginJob {
  readonly configId: number
  readonly kind: PluginJobKind
  readonly name: string
  readonly payload: unknown
  readonly runAt: Instant
}

export type PluginJob = NewPluginJob & { readonly id: number; readonly attempts: number }

export interface PlannedJob extends PluginJob {
  /** A node is at it until then at the latest. */
  readonly leasedUntil: Instant | null
  readonly createdAt: Instant
}

export interface PluginMetricsTotal {
  readonly calls: number
  readonly failures: number
  readonly droppedEvents: number
  readonly cpuMs: number
  readonly memoryBytes: number
}

export const noMetrics: PluginMetricsTotal = { calls: 0, failures: 0, droppedEvents: 0, cpuMs: 0, memoryBytes: 0 }

export type PluginMetricsRow = PluginMetricsTotal & { readonly configId: number; readonly hour: Instant }

export const storageCharactersMax = 1024 * 1024
export const storageKeysMax = 10_000
export const logLinesKept = 5_000
