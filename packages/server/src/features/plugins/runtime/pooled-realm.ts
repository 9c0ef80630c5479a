import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { type Sandbox, type SandboxAnswer, SandboxFailure } from '../../../sandbox/sandbox.ts'
import type { GuestSetup } from '../guest/guest-environment.ts'
import { openPluginRealm, type PluginRealm } from './plugin-realm.ts'
import type { PooledPlugin, RealmPool } from './realm-pool.ts'
import type { PluginServices } from './services/plugin-services.ts'

export interface PooledRealmParts {
  readonly organizationId: string
  readonly pluginName: string
  readonly hasTeardown: boolean
  readonly sandbox: Sandbox
  readonly pool: RealmPool
  readonly services: PluginServices
  /** The compiled code and the settings in the clear. */
  readonly load: () => Promise<{ code: string; setup: GuestSetup }>
  /** `setupPlugin` has failed for good. */
  readonly onSetupFailed: (error: SandboxFailure) => void
}

const setupAttemptsMax = 5
const setupDelayMs = 5_000
const teardownLimits = { cpuMsMax: 500, wallMsMax: 2_000 }

/** The realm of a plugin, opened when it is needed: at first, after the pool evicted it, and after it was lost. */
export class PooledRealm implements PooledPlugin {
  readonly organizationId: string
  readonly #parts: PooledRealmParts
  #realm: Promise<PluginRealm> | undefined
  #setupAttempts = 0
  #setupAgainAt = 0
  #memoryBytes = 0
  #isEnded = false

  constructor(parts: PooledRealmParts) {
    this.organizationId = parts.organizationId
    this.#parts = parts
  }

  /** It was closed, and is not opened again. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  memoryBytes(): number {
    return this.#memoryBytes
  }

  async evict(): Promise<void> {
    const evicted = this.#realm
    this.#realm = undefined
    this.#memoryBytes = 0
    await this.#tearDown(evicted)
  }

  async run(work: (realm: PluginRealm) => Promise<SandboxAnswer>): Promise<SandboxAnswer> {
    if (this.#isEnded) throw pluginIsOff()
    const { pool } = this.#parts
    const release = await pool.acquire(this)
    try {
      const answer = await work(await this.#get())
      this.#memoryBytes = answer.memoryBytes
      return answer
    } finally {
      if (this.#isEnded) pool.forget(this)
      release()
    }
  }

  /** Opens the realm now, if the pool has capacity. */
  async prepare(): Promise<void> {
    const { pool } = this.#parts
    if (!pool.hasCapacity(this)) return
    const release = await pool.acquire(this)
    try {
      await this.#get()
    } finally {
      release()
    }
  }

  /** Closes the realm without a teardown; it is not opened again. */
  end(): void {
    this.#isEnded = true
    this.#realm?.then(opened => opened.close(), ignore)
    this.#parts.pool.forget(this)
  }

  async close(): Promise<void> {
    await this.#tearDown(this.#realm)
    this.#isEnded = true
    // A call that waited for the teardown may have opened it again.
    await this.#realm?.then(opened => opened.close(), ignore)
    this.#parts.pool.forget(this)
  }

  async #get(): Promise<PluginRealm> {
    if (this.#isEnded) throw pluginIsOff()
    const current = await this.#realm?.catch(() => undefined)
    if (!current || current.lost) this.#realm = undefined
    this.#realm ??= this.#open()
    return this.#realm
  }

  async #open(): Promise<PluginRealm> {
    if (monotonicNow() < this.#setupAgainAt) {
      throw new SandboxFailure('threw', 'The plugin waits before it is set up again.')
    }
    const { sandbox, pluginName, services, load } = this.#parts
    const { code, setup } = await load()
    const opened = await openPluginRealm(sandbox, { name: pluginName, code }, services)
    try {
      await opened.setup(setup)
    } catch (error) {
      opened.close()
      this.#afterSetup(error)
      throw error
    }
    this.#setupAttempts = 0
    return opened
  }

  /** A RetryError schedules another attempt; any other error of setupPlugin is final. */
  #afterSetup(error: unknown): void {
    if (!(error instanceof SandboxFailure) || error.kind === 'neighbor' || error.kind === 'closed') return
    this.#setupAttempts += 1
    const mayRetry = error.guest?.name === 'RetryError' && this.#setupAttempts < setupAttemptsMax
    if (mayRetry) this.#setupAgainAt = monotonicNow() + setupDelayMs * 2 ** (this.#setupAttempts - 1)
    else this.#parts.onSetupFailed(error)
  }

  async #tearDown(closing: Promise<PluginRealm> | undefined): Promise<void> {
    const opened = await closing?.catch(() => undefined)
    if (opened && !opened.lost && !this.#isEnded && this.#parts.hasTeardown) {
      await opened.call('teardownPlugin', [], teardownLimits).catch(ignore)
    }
    opened?.close()
  }
}

function pluginIsOff(): SandboxFailure {
  return new SandboxFailure('closed', 'The plugin is switched off.')
}

/** The outcome of a realm that is being closed has no meaning. */
function ignore(): void {}
