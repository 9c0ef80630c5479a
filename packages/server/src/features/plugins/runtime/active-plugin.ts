import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { type CallLimits, type Sandbox, type SandboxAnswer, SandboxFailure } from '../../../sandbox/sandbox.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import type { GuestSetup } from '../guest/guest-environment.ts'
import type { PluginMeter } from './plugin-meter.ts'
import { openPluginRealm, type PluginRealm } from './plugin-realm.ts'
import type { PooledPlugin, RealmPool } from './realm-pool.ts'
import type { PluginLogWriter } from './services/plugin-log.ts'
import type { PluginFetchAnswer, PluginFetchOptions, PluginServices } from './services/plugin-services.ts'

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

export interface ActivePluginParts {
  readonly sandbox: Sandbox
  readonly pool: RealmPool
  readonly services: PluginServices
  readonly log: PluginLogWriter
  readonly meter: PluginMeter
  readonly redact: (text: string) => string
  /** The compiled code and the settings in the clear. */
  readonly load: () => Promise<{ code: string; setup: GuestSetup }>
  /** The plugin has failed too often; it is not called again. */
  readonly giveUp: (reason: string) => void
}

/** A plugin that runs into its limits costs more than one that throws, so it has fewer chances in a row. */
const throwsMax = 20
const limitBreaksMax = 3
const setupAttemptsMax = 5
const setupDelayMs = 5_000
const teardownLimits = { cpuMsMax: 500, wallMsMax: 2_000 }

export function createActivePlugin(enabled: EnabledConfig, parts: ActivePluginParts): ActivePlugin {
  const { sandbox, pool, services, log, meter, redact, load, giveUp } = parts
  const { config, plugin } = enabled
  const measured = { configId: config.id, pluginId: plugin.id, pluginName: plugin.name }
  const { methods, scheduled_tasks: tasks } = plugin.capabilities as { methods?: unknown; scheduled_tasks?: unknown }
  const offered = new Set(Array.isArray(methods) ? methods : [])
  let realm: Promise<PluginRealm> | undefined
  let throws = 0
  let limitBreaks = 0
  let setupAttempts = 0
  let setupAgainAt = 0
  let memoryBytes = 0
  let ended = false

  const pooled: PooledPlugin = {
    organizationId: enabled.organizationId,
    memoryBytes: () => memoryBytes,
    async evict() {
      const evicted = realm
      realm = undefined
      memoryBytes = 0
      await closeRealm(evicted)
    },
  }

  async function open(): Promise<PluginRealm> {
    if (monotonicNow() < setupAgainAt) throw new SandboxFailure('threw', 'The plugin waits before it is set up again.')
    const { code, setup } = await load()
    const opened = await openPluginRealm(sandbox, { name: plugin.name, code }, services)
    try {
      await opened.setup(setup)
    } catch (error) {
      opened.close()
      throw afterSetup(error)
    }
    setupAttempts = 0
    return opened
  }

  /** A RetryError schedules another attempt; any other error of setupPlugin is final. */
  function afterSetup(error: unknown): unknown {
    if (!(error instanceof SandboxFailure) || error.kind === 'neighbor' || error.kind === 'closed') return error
    setupAttempts += 1
    const mayRetry = error.guest?.name === 'RetryError' && setupAttempts < setupAttemptsMax
    if (mayRetry) setupAgainAt = monotonicNow() + setupDelayMs * 2 ** (setupAttempts - 1)
    else finish(`setupPlugin failed: ${describe(error)}`)
    return error
  }

  async function getRealm(): Promise<PluginRealm> {
    if (ended) throw pluginIsOff()
    const current = await realm?.catch(() => undefined)
    if (!current || current.lost) realm = undefined
    realm ??= open()
    return realm
  }

  async function runInSlot(work: (realm: PluginRealm) => Promise<SandboxAnswer>): Promise<SandboxAnswer> {
    if (ended) throw pluginIsOff()
    const release = await pool.acquire(pooled)
    try {
      const answer = await work(await getRealm())
      memoryBytes = answer.memoryBytes
      return answer
    } finally {
      if (ended) pool.forget(pooled)
      release()
    }
  }

  async function openInSlot(): Promise<void> {
    const release = await pool.acquire(pooled)
    try {
      await getRealm()
    } finally {
      release()
    }
  }

  async function closeRealm(closing: Promise<PluginRealm> | undefined): Promise<void> {
    const opened = await closing?.catch(() => undefined)
    if (opened && !opened.lost && !ended && offered.has('teardownPlugin')) {
      await opened.call('teardownPlugin', [], teardownLimits).catch(ignore)
    }
    opened?.close()
  }

  async function run(
    method: string,
    work: (realm: PluginRealm) => Promise<SandboxAnswer>,
    isFailure: (error: SandboxFailure) => boolean = error => error.kind !== 'closed',
  ): Promise<unknown> {
    try {
      const answer = await retryForNeighbor(() => runInSlot(work))
      throws = 0
      limitBreaks = 0
      meter.called(measured, method, 'ok', answer.cpuMs, answer.memoryBytes)
      return answer.value
    } catch (error) {
      if (!(error instanceof SandboxFailure)) throw error
      if (isFailure(error)) noteFailure(method, error)
      else throws = 0
      throw error
    }
  }

  function noteFailure(method: string, error: SandboxFailure): void {
    meter.called(measured, method, 'failed', 0, 0)
    log.write(enabled, 'PLUGIN', 'ERROR', `${method} failed: ${describe(error)}`)
    if (error.kind === 'threw' || error.kind === 'size') throws += 1
    else if (error.kind !== 'neighbor') limitBreaks += 1
    if (throws >= throwsMax || limitBreaks >= limitBreaksMax) {
      finish(`${method} failed ${Math.max(throws, limitBreaks)} times in a row, last: ${describe(error)}`)
    }
  }

  function finish(reason: string): void {
    if (ended) return
    ended = true
    log.write(enabled, 'SYSTEM', 'ERROR', `The plugin was switched off: ${reason}`)
    giveUp(reason)
    realm?.then(opened => opened.close(), ignore)
    pool.forget(pooled)
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
      if (!pool.hasCapacity(pooled)) return
      await openInSlot().catch(error => {
        log.write(enabled, 'PLUGIN', 'ERROR', `The plugin could not start: ${describe(error)}`)
      })
    },
    async close() {
      await closeRealm(realm)
      ended = true
      // A call that waited for the teardown may have opened it again.
      await realm?.then(opened => opened.close(), ignore)
      pool.forget(pooled)
    },
  }
}

function pluginIsOff(): SandboxFailure {
  return new SandboxFailure('closed', 'The plugin is switched off.')
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

/** The outcome of a realm that is being closed has no meaning. */
function ignore(): void {}
