import { availableParallelism } from 'node:os'
import { createRealmClient, type RealmClient } from './realm-client.ts'
import { defaultSandboxLimits, type Sandbox, SandboxFailure } from './sandbox.ts'
import { findWorkerCode, loadWasm } from './sandbox-worker-code.ts'
import { startWorkerThread, type WorkerThread } from './worker-thread.ts'

export interface WorkerSandboxOptions {
  /** How many threads run plugin code. */
  workersMax?: number
  /** How long a thread may stay silent beyond its running call's limit before it is replaced. */
  silenceMsMax?: number
}

interface Slot {
  thread: WorkerThread
  realms: Map<number, RealmClient>
}

const watchEveryMs = 100
const defaultSilenceMsMax = 500

/**
 * A sandbox of QuickJS realms in worker threads. Guest code is normally stopped by the engine's own interrupt check
 * and costs only its realm. A few built-in functions never reach that check; for them a watchdog on the main thread
 * ends the whole thread, attributes it to the realm that was running, and restarts the others elsewhere.
 */
export function createWorkerSandbox(options: WorkerSandboxOptions = {}): Sandbox {
  const workersMax = options.workersMax ?? Math.max(2, Math.min(4, availableParallelism() - 1))
  const silenceMsMax = options.silenceMsMax ?? defaultSilenceMsMax
  const slots = new Set<Slot>()
  let parts: Promise<[Awaited<ReturnType<typeof findWorkerCode>>, WebAssembly.Module]> | undefined
  let lastRealm = 0
  let closed = false

  const watchdog = setInterval(() => {
    for (const slot of slots) {
      const culprit = slot.thread.findOverdue(realm => runMsMax(slot, realm))
      if (culprit !== undefined) replace(slot, culprit, new SandboxFailure('cpu', 'The code did not stop running.'))
    }
  }, watchEveryMs).unref()

  function runMsMax(slot: Slot, realm: number): number {
    return (slot.realms.get(realm)?.cpuMsMax ?? 0) + silenceMsMax
  }

  function replace(slot: Slot, culprit: number | undefined, failure: SandboxFailure): void {
    slots.delete(slot)
    for (const [id, realm] of [...slot.realms]) realm.lose(id === culprit ? failure : neighborFailed())
    void slot.thread.terminate()
  }

  async function chooseSlot(): Promise<Slot> {
    parts ??= Promise.all([findWorkerCode(), loadWasm()])
    const [code, wasm] = await parts
    if (closed) throw sandboxClosed()
    const leastLoaded = [...slots].sort((a, b) => a.realms.size - b.realms.size)[0]
    if (leastLoaded && (leastLoaded.realms.size === 0 || slots.size >= workersMax)) return leastLoaded
    const slot: Slot = {
      realms: new Map(),
      thread: startWorkerThread(code, wasm, {
        message: message => slot.realms.get(message.realm)?.receive(message),
        exit: () =>
          replace(slot, slot.thread.runningRealm(), new SandboxFailure('crash', 'The code ended its worker.')),
      }),
    }
    slots.add(slot)
    return slot
  }

  return {
    async open(program, host, changedLimits) {
      const limits = { ...defaultSandboxLimits, ...changedLimits }
      const slot = await chooseSlot()
      lastRealm += 1
      const id = lastRealm
      const realm = createRealmClient({
        id,
        limits,
        host,
        post: message => slot.thread.post(message),
        ended: () => slot.realms.delete(id),
      })
      slot.realms.set(id, realm)
      await realm.open(program.scripts)
      return realm
    },
    async close() {
      closed = true
      clearInterval(watchdog)
      const all = [...slots]
      slots.clear()
      for (const slot of all) for (const realm of [...slot.realms.values()]) realm.lose(sandboxClosed())
      await Promise.all(all.map(slot => slot.thread.terminate()))
    },
  }
}

function neighborFailed(): SandboxFailure {
  return new SandboxFailure('neighbor', 'The worker had to be replaced because of another program.')
}

function sandboxClosed(): SandboxFailure {
  return new SandboxFailure('closed', 'The sandbox is closed.')
}
