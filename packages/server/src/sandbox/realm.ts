import { JSException, type JSValueHandle, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi'
import { createCallBudget } from './call-budget.ts'
import { type GuestEntry, guest } from './guest.ts'
import type { FailureMessage, FromWorker } from './messages.ts'
import { createBridge } from './realm-bridge.ts'
import type { Progress } from './run-progress.ts'
import { type RunTimer, startRunTimer } from './run-timer.ts'
import type { GuestError, SandboxLimits, SandboxLogLine, SandboxScript } from './sandbox.ts'

/** One program inside one QuickJS instance with a linear memory of its own. It lives in a worker. */
export interface Realm {
  open(scripts: readonly SandboxScript[]): void
  call(json: string, cpuMsMax: number): void
  hostAnswer(hostCall: number, json: string): void
  hostFailure(hostCall: number, message: string): void
  dispose(): void
}

export interface RealmParts {
  id: number
  wasm: WebAssembly.Module
  limits: SandboxLimits
  progress: Progress
  send(message: FromWorker): void
}

/** Thrown by the interrupt handler: it unwinds the engine itself, so no `catch` or `finally` of the guest sees it. */
class OutOfTime extends Error {}

const memoryMessages = /out of memory|string too long/
const memoryMeasureEveryMs = 1_000
const errnoBadFileDescriptor = 8

export async function createRealm({ id, wasm, limits, progress, send }: RealmParts): Promise<Realm> {
  const budget = createCallBudget(limits)
  /** Of the turn that is under way. */
  let running: RunTimer | undefined
  let state: 'idle' | 'busy' | 'dead' = 'idle'
  let outcome: { json: string } | FailureMessage | undefined
  let lines: SandboxLogLine[] = []
  let memory = { bytes: 0, measuredAt: Number.NEGATIVE_INFINITY }

  const vm = await QuickJS.create({
    wasm,
    memoryLimit: limits.memoryBytesMax,
    maxStackSize: MAX_STACK_SIZE,
    timezoneOffset: 0,
    wasi: () => ({ fd_write: () => errnoBadFileDescriptor }),
    interruptHandler: () => {
      if (running?.hasRunLongerThan(budget.cpuMsLeft)) throw new OutOfTime()
      return false
    },
  })
  const bridge = createBridge(vm, limits, budget, {
    hostCall: (hostCall, name, json) => send({ type: 'hostCall', realm: id, hostCall, name, json }),
    log: line => lines.push(line),
    finish(json) {
      outcome ??= json.length > limits.messageCharactersMax ? answerTooLarge() : { json }
    },
    fail(error) {
      outcome ??= failureOf(error, limits)
    },
  })
  const guestFunction = vm.evalCode(`(${String(guest)})`, 'guest.js')
  const entry = vm.callFunction(guestFunction, vm.undefined, bridge)

  /** Runs guest code and the promise jobs that it leaves behind, within what is left of the call's time. */
  function turn(work: () => void): void {
    const timer = startRunTimer()
    running = timer
    progress.enter(id)
    try {
      work()
      vm.executePendingJobs()
      measureMemory()
    } catch (error) {
      outcome = lossOf(error, limits, budget.cpuMsMax)
    } finally {
      running = undefined
      progress.leave()
      budget.spend(timer.ranMs())
    }
    report()
  }

  /** Reports log lines to the main thread, and the result if there is one. */
  function report(): void {
    if (lines.length > 0) send({ type: 'log', realm: id, lines })
    lines = []
    const result = outcome
    outcome = undefined
    if (result === undefined) return
    const wasBusy = state === 'busy'
    state = 'realmLost' in result && result.realmLost ? 'dead' : 'idle'
    if ('kind' in result) {
      if (wasBusy || state === 'dead') send({ type: 'failed', realm: id, failure: result })
    } else if (wasBusy) {
      send({ type: 'done', realm: id, json: result.json, cpuMs: budget.cpuMsUsed, memoryBytes: memory.bytes })
    }
  }

  function begin(cpuMsMax: number, work: () => void): void {
    if (state === 'dead') {
      send({ type: 'failed', realm: id, failure: realmIsGone() })
      return
    }
    state = 'busy'
    outcome = undefined
    budget.begin(cpuMsMax)
    turn(work)
  }

  function enter(name: keyof GuestEntry, ...args: JSValueHandle[]): void {
    vm.withScope(() => vm.callFunction(entry.getProp(name), vm.undefined, ...args))
    for (const arg of args) arg.dispose()
  }

  function measureMemory(): void {
    const now = performance.now()
    if (now - memory.measuredAt < memoryMeasureEveryMs) return
    memory = { bytes: vm.getMemoryUsage().mallocSize, measuredAt: now }
  }

  return {
    open(scripts) {
      begin(limits.cpuMsMax, () => {
        let dispatcher: JSValueHandle = vm.undefined
        for (const script of scripts) dispatcher = vm.evalCode(script.text, script.fileName)
        enter('setDispatcher', dispatcher)
        outcome = { json: 'null' }
      })
    },
    call(json, cpuMsMax) {
      begin(cpuMsMax, () => enter('start', vm.newString(json)))
    },
    hostAnswer(hostCall, json) {
      budget.releaseHostCall()
      if (state !== 'dead') turn(() => enter('hostAnswer', vm.newNumber(hostCall), vm.newString(json)))
    },
    hostFailure(hostCall, message) {
      budget.releaseHostCall()
      if (state !== 'dead') turn(() => enter('hostFailure', vm.newNumber(hostCall), vm.newString(message)))
    },
    dispose() {
      state = 'dead'
      vm.dispose()
    },
  }
}

function failureOf(error: GuestError, limits: SandboxLimits): FailureMessage {
  const ranOutOfMemory = error.name === 'InternalError' && memoryMessages.test(error.message)
  if (ranOutOfMemory) return memoryExhausted(limits)
  return { kind: 'threw', message: error.message, guest: error, realmLost: false }
}

function lossOf(error: unknown, limits: SandboxLimits, cpuMsMax: number): FailureMessage {
  if (error instanceof OutOfTime) {
    return { kind: 'cpu', message: `The code ran for longer than ${cpuMsMax} ms.`, realmLost: true }
  }
  if (error instanceof JSException) {
    const guestError = { name: error.name, message: error.message, stack: error.stack ?? '' }
    return { ...failureOf(guestError, limits), realmLost: true }
  }
  if (error instanceof Error && memoryMessages.test(error.message)) return memoryExhausted(limits)
  return { kind: 'crash', message: 'The code broke the engine that it ran in.', realmLost: true }
}

function memoryExhausted(limits: SandboxLimits): FailureMessage {
  const mebibytes = Math.round(limits.memoryBytesMax / 1024 / 1024)
  return { kind: 'memory', message: `The code used more than ${mebibytes} MiB of memory.`, realmLost: true }
}

function answerTooLarge(): FailureMessage {
  return { kind: 'size', message: 'The answer is too large.', realmLost: false }
}

function realmIsGone(): FailureMessage {
  return { kind: 'closed', message: 'The realm is gone.', realmLost: true }
}
