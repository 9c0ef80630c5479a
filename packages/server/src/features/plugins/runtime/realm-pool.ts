import { type Sandbox, SandboxFailure } from '../../../sandbox/sandbox.ts'

export interface RealmPoolLimits {
  readonly realmsMax: number
  readonly realmsPerOrganizationMax: number
  readonly memoryBytesMax: number
  /** How long a call waits for a slot while all realms are busy. */
  readonly waitMsMax: number
}

export const realmPoolLimits: RealmPoolLimits = Object.freeze({
  realmsMax: 64,
  realmsPerOrganizationMax: 16,
  memoryBytesMax: 1024 * 1024 * 1024,
  waitMsMax: 10_000,
})

/** The memory of an empty realm, until it has been measured. */
const emptyRealmBytes = 4 * 1024 * 1024

/** A plugin that has at most one open realm. */
export interface PooledPlugin {
  readonly organizationId: string
  /** Last measurement; 0 when there is none. */
  memoryBytes(): number
  /** Closes the realm. It is opened again by the next call. */
  evict(): Promise<void>
}

/**
 * Bounds how many realms are open, and their memory, per organization and per process. An idle realm that was used
 * least recently is closed to free a slot; while all are busy, a call waits.
 */
export interface RealmPool {
  /** Reserves the plugin's slot for one call and returns its release. Raises a `SandboxFailure` of kind `neighbor`. */
  acquire(plugin: PooledPlugin): Promise<() => void>
  /** Whether the plugin gets a slot without another being closed. */
  hasCapacity(plugin: PooledPlugin): boolean
  /** The plugin has closed its realm. */
  forget(plugin: PooledPlugin): void
  readonly openRealms: number
}

interface Slot {
  users: number
  /** The realm is being closed and still counts. */
  closing: Promise<void> | undefined
}

export function createRealmPool(limits: RealmPoolLimits = realmPoolLimits): RealmPool {
  /** Least recently used first. */
  const slots = new Map<PooledPlugin, Slot>()
  const waiting = new Set<() => void>()

  const notify = (): void => {
    for (const wake of [...waiting]) wake()
  }

  const bytesOf = (plugin: PooledPlugin): number => Math.max(emptyRealmBytes, plugin.memoryBytes())

  const totalBytes = (): number => [...slots.keys()].reduce((total, plugin) => total + bytesOf(plugin), 0)

  /** Why another realm may not be opened for the organization now. */
  function shortage(organizationId: string): 'organization' | 'process' | undefined {
    const own = [...slots.keys()].filter(plugin => plugin.organizationId === organizationId)
    if (own.length >= limits.realmsPerOrganizationMax) return 'organization'
    const isFull = slots.size >= limits.realmsMax || totalBytes() + emptyRealmBytes > limits.memoryBytesMax
    return isFull ? 'process' : undefined
  }

  /** Starts closing the idle realm that was used least recently; undefined when all are busy. */
  function evictIdle(organizationId?: string): Promise<void> | undefined {
    for (const [plugin, slot] of slots) {
      if (organizationId !== undefined && plugin.organizationId !== organizationId) continue
      if (slot.closing) return slot.closing
      if (slot.users > 0) continue
      slot.closing = plugin.evict().finally(() => {
        if (slots.get(plugin) === slot) slots.delete(plugin)
        notify()
      })
      return slot.closing
    }
    return undefined
  }

  function use(plugin: PooledPlugin, slot: Slot): () => void {
    slot.users += 1
    slots.delete(plugin)
    slots.set(plugin, slot)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      slot.users -= 1
      if (totalBytes() > limits.memoryBytesMax) void evictIdle()
      notify()
    }
  }

  function waitForChange(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          waiting.delete(wake)
          reject(new SandboxFailure('neighbor', 'All realms for plugins are busy. Try again later.'))
        },
        Math.max(0, deadline - performance.now()),
      )
      const wake = () => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve()
      }
      waiting.add(wake)
    })
  }

  return {
    async acquire(plugin) {
      const deadline = performance.now() + limits.waitMsMax
      for (;;) {
        const slot = slots.get(plugin)
        if (slot?.closing) await slot.closing
        else if (slot) return use(plugin, slot)
        else {
          const scope = shortage(plugin.organizationId)
          if (!scope) return use(plugin, { users: 0, closing: undefined })
          const closing = evictIdle(scope === 'organization' ? plugin.organizationId : undefined)
          await (closing ?? waitForChange(deadline))
        }
      }
    },
    hasCapacity: plugin => slots.has(plugin) || shortage(plugin.organizationId) === undefined,
    forget(plugin) {
      slots.delete(plugin)
      notify()
    },
    get openRealms() {
      return slots.size
    },
  }
}

/** A sandbox whose short-lived realms count in the pool: for looking at code before it is installed. */
export function poolRealms(sandbox: Sandbox, pool: RealmPool): Sandbox {
  return {
    async open(...args) {
      const plugin: PooledPlugin = { organizationId: '', memoryBytes: () => 0, evict: async () => {} }
      const release = await pool.acquire(plugin)
      const end = () => {
        pool.forget(plugin)
        release()
      }
      const realm = await sandbox.open(...args).catch(error => {
        end()
        throw error
      })
      return {
        call: realm.call,
        get lost() {
          return realm.lost
        },
        close() {
          realm.close()
          end()
        },
      }
    },
    close: () => sandbox.close(),
  }
}
