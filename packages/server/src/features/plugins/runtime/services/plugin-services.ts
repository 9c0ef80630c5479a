import type { SandboxLogLine } from '../../../../sandbox/sandbox.ts'
import type { Locate } from './geoip.ts'

/**
 * The host functions of one configured plugin. Each throws an Error whose message the plugin
 * receives; nothing else of the error enters the realm.
 */
export interface PluginServices {
  readonly storage: PluginStorage
  readonly cache: PluginCache
  /** Keeps the job and runs it once, at that time or as soon as possible after it. */
  enqueueJob(name: string, payload: unknown, at: Date): Promise<void>
  fetch(url: string, options: PluginFetchOptions): Promise<PluginFetchAnswer>
  /** Calls Halyard's API with the key in the plugin's settings. */
  callApi(path: string, options: PluginFetchOptions, key: string): Promise<PluginFetchAnswer>
  /** Sends an event of the plugin's own into the project. */
  capture(event: string, properties: Readonly<Record<string, unknown>>): Promise<void>
  readonly locate: Locate
  log(lines: readonly SandboxLogLine[]): void
}

/** Durable and private to the configuration. Values are JSON. */
export interface PluginStorage {
  get(key: string): Promise<unknown>
  set(key: string, value: unknown): Promise<void>
  del(key: string): Promise<void>
}

/** In memory and lossy, private to the configuration. */
export interface PluginCache {
  get(key: string): unknown
  set(key: string, value: unknown, seconds: number | null): void
  incr(key: string): number
  expire(key: string, seconds: number): boolean
  lpush(key: string, values: readonly unknown[]): number
  lrange(key: string, start: number, end: number): unknown[]
  llen(key: string): number
  lrem(key: string, count: number, value: unknown): number
  lpop(key: string, count: number): unknown[]
}

export interface PluginFetchOptions {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface PluginFetchAnswer {
  readonly status: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}
