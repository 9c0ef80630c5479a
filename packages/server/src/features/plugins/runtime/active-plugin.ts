import { type CallLimits, type SandboxAnswer, SandboxFailure } from '../../../sandbox/sandbox.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import type { PluginMeter } from './plugin-meter.ts'
import type { PluginRealm } from './plugin-realm.ts'
import { PooledRealm, type PooledRealmParts } from './pooled-realm.ts'
import type { PluginLogWriter } from './services/plugin-log.ts'
import type { PluginFetchAnswer, PluginFetchOptions } from './services/plugin-services.ts'

/** A configuration that runs on this node. Its realm is opened when it is first needed, and again when it was lost. */
export interface ActivePlugin {
  readonly enabled: EnabledConfig
  offers(method: string): boolean
  readonly scheduledTasks: readonly string[]
  /** Raises a `SandboxFailure`, after it was logged and counted. */
  call(method: string, args: readonly unknown[], limits?: Partial<CallLimits>): Promise<unknown>
  /** As `call`, for a method that rejects by throwing: an Error thrown on purpose does not count as a failure. */
  ask(method: string, args: readonly unknown[], limits?: Partial<CallLimits>): Promise<unknown>
  runJob(name: string, payload: unknown, limits?: Partial<CallLimits>): Promise<unknown>
  /** A request on behalf of the plugin, to its allowed hosts. Errors are logged and thrown. */
  fetch(url: string, options: PluginFetchOptions): Promise<PluginFetchAnswer>
  /** The text without the plugin's secrets. */
  redact(text: string): string
  noteDropped(): void
  /** The plugin rejected a save: its users find the reason in its log. */
  noteRejected(reason: string): void
  /** Opens the realm now instead of at the first call. */
  prepare(): Promise<void>
  close(): Promise<void>
}

export interface ActivePluginParts extends Pick<PooledRealmParts, 'sandbox' | 'pool' | 'services' | 'load'> {
  readonly log: PluginLogWriter
  readonly meter: PluginMeter
  readonly redact: (text: string) => string
  /** The plugin has failed too often; it is not called again. */
  readonly giveUp: (reason: string) => void
}

/** A plugin that runs into its limits costs more than one that throws, so it has fewer chances in a row. */
const throwsMax = 20
const limitBreaksMax = 3

export function createActivePlugin(enabled: EnabledConfig, parts: ActivePluginParts): ActivePlugin {
  const { services, log, meter, redact } = parts
  const { config, plugin } = enabled
  const { methods, scheduled_tasks: tasks } = plugin.capabilities as { methods?: unknown; scheduled_tasks?: unknown }
  const offered = new Set(Array.isArray(methods) ? methods : [])
  const measured = { configId: config.id, pluginId: plugin.id, pluginName: plugin.name }
  const failures = new FailuresInARow()
  const realm = new PooledRealm({
    ...parts,
    organizationId: enabled.organizationId,
    pluginName: plugin.name,
    hasTeardown: offered.has('teardownPlugin'),
    onSetupFailed: error => switchOff(`setupPlugin failed: ${describe(error)}`),
  })

  async function run(
    method: string,
    work: (realm: PluginRealm) => Promise<SandboxAnswer>,
    isFailure: (error: SandboxFailure) => boolean = error => error.kind !== 'closed',
  ): Promise<unknown> {
    try {
      const answer = await retryForNeighbor(() => realm.run(work))
      failures.clear()
      meter.called(measured, method, 'ok', answer.cpuMs, answer.memoryBytes)
      return answer.value
    } catch (error) {
      if (!(error instanceof SandboxFailure)) throw error
      if (isFailure(error)) noteFailure(method, error)
      else failures.clearThrows()
      throw error
    }
  }

  function noteFailure(method: string, error: SandboxFailure): void {
    meter.called(measured, method, 'failed', 0, 0)
    log.write(enabled, 'PLUGIN', 'ERROR', `${method} failed: ${describe(error)}`)
    failures.count(error)
    if (failures.areTooMany) switchOff(`${method} failed ${failures.size} times in a row, last: ${describe(error)}`)
  }

  function switchOff(reason: string): void {
    if (realm.isEnded) return
    log.write(enabled, 'SYSTEM', 'ERROR', `The plugin was switched off: ${reason}`)
    parts.giveUp(reason)
    realm.end()
  }

  return {
    enabled,
    offers: method => offered.has(method),
    scheduledTasks: Array.isArray(tasks) ? tasks.filter(task => typeof task === 'string') : [],
    call: (method, args, limits) => run(method, opened => opened.call(method, args, limits)),
    ask: (method, args, limits) =>
      run(
        method,
        opened => opened.call(method, args, limits),
        error => error.kind !== 'closed' && !isOnPurpose(error),
      ),
    async fetch(url, options) {
      try {
        return await services.fetch(url, options)
      } catch (error) {
        log.write(enabled, 'PLUGIN', 'ERROR', `A webhook failed: ${describe(error)}`)
        throw error
      }
    },
    runJob: (name, payload, limits) => run(`job ${name}`, opened => opened.runJob(name, payload, limits)),
    redact,
    noteDropped: () => meter.dropped(measured),
    noteRejected: reason => log.write(enabled, 'PLUGIN', 'WARN', `Rejected a flag: ${reason}`),
    async prepare() {
      await realm.prepare().catch(error => {
        log.write(enabled, 'PLUGIN', 'ERROR', `The plugin could not start: ${describe(error)}`)
      })
    },
    close: () => realm.close(),
  }
}

class FailuresInARow {
  #throws = 0
  #limitBreaks = 0

  get areTooMany(): boolean {
    return this.#throws >= throwsMax || this.#limitBreaks >= limitBreaksMax
  }

  get size(): number {
    return Math.max(this.#throws, this.#limitBreaks)
  }

  count({ kind }: SandboxFailure): void {
    if (kind === 'threw' || kind === 'size') this.#throws += 1
    else if (kind !== 'neighbor') this.#limitBreaks += 1
  }

  clear(): void {
    this.#throws = 0
    this.#limitBreaks = 0
  }

  clearThrows(): void {
    this.#throws = 0
  }
}

/** The worker was lost because of another plugin, so the call is retried once in a new realm. */
async function retryForNeighbor<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SandboxFailure && error.kind === 'neighbor') return work()
    throw error
  }
}

/** Built-in errors such as TypeError are bugs, not rejections. */
const bugs = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'InternalError', 'EvalError'])

export const isOnPurpose = (error: SandboxFailure): boolean =>
  error.kind === 'threw' && error.guest !== undefined && !bugs.has(error.guest.name)

export function describe(error: unknown): string {
  if (error instanceof SandboxFailure)
    return error.guest ? `${error.guest.name}: ${error.guest.message}` : error.message
  return error instanceof Error ? error.message : String(error)
}
