import type { Instant } from '../../../instant.ts'

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
