import { Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerData } from './messages.ts'
import { createProgress } from './run-progress.ts'
import { startRunTimer } from './run-timer.ts'
import type { WorkerCode } from './sandbox-worker-code.ts'

/** One worker as the main thread sees it. */
export interface WorkerThread {
  post(message: ToWorker): void
  /** The realm whose code has been running without a pause for longer than `runMsMax` allows, if there is one. */
  findOverdue(runMsMax: (realm: number) => number): number | undefined
  /** The realm whose code runs at this moment. */
  runningRealm(): number | undefined
  terminate(): Promise<void>
}

export interface WorkerThreadEvents {
  message(message: FromWorker): void
  /** The thread has exited unexpectedly. */
  exit(): void
}

const heapMegabytesMax = 128

export function startWorkerThread(
  code: WorkerCode,
  wasm: WebAssembly.Module,
  events: WorkerThreadEvents,
): WorkerThread {
  const progress = createProgress()
  const workerData: WorkerData = { wasm, progress: progress.buffer }
  const options = {
    workerData,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    name: 'sandbox',
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  }
  const worker = 'file' in code ? new Worker(code.file, options) : new Worker(code.text, { ...options, eval: true })
  let asked = false
  let seen = { turn: 0, timer: startRunTimer() }

  worker.on('message', (message: FromWorker) => events.message(message))
  worker.on('error', ignoreError)
  worker.on('exit', () => {
    if (!asked) events.exit()
  })
  worker.unref()

  return {
    post: message => worker.postMessage(message),
    findOverdue(runMsMax) {
      const running = progress.running()
      if (!running) return undefined
      if (running.turn !== seen.turn) seen = { turn: running.turn, timer: startRunTimer() }
      return seen.timer.hasRunLongerThan(runMsMax(running.realm)) ? running.realm : undefined
    },
    runningRealm: () => progress.running()?.realm,
    async terminate() {
      asked = true
      await worker.terminate()
    },
  }
}

/** An error of a worker always ends it, and its end is what is acted upon. */
function ignoreError(): void {}
