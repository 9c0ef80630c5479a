import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { invalid, Problem } from '../../../problem.ts'
import { databaseProblem } from '../../../storage/driver-error.ts'
import type { SqliteHandle } from '../../../storage/sqlite/sqlite-connection.ts'
import { sourceOn } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanJob, ToScan } from './scan-messages.ts'
import type { Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'
import { findScanWorker, type WorkerCode } from './scan-worker-code.ts'

/** Evaluates flags for everybody in a project, off the event loop, a few scans at a time. */
export interface Scanner {
  /** Raises `throttled` when too many are waiting, `unavailable` when the database is away, `invalid` when the signal was aborted. */
  tally(request: TallyRequest, signal: AbortSignal, onProgress?: (processed: number) => void): Promise<Tally>
  /** Goes on until the end or until `onStep` answers false. Raises as `tally`, and what `onStep` throws. */
  walk(request: WalkRequest, signal: AbortSignal, onStep: (step: WalkStep) => Promise<boolean>): Promise<void>
  /** Ends what is under way. */
  close(): Promise<void>
}

interface ScannerOptions {
  readonly database: ScanJob['database']
  /** Given when the database is in memory, where no other thread can reach it. */
  readonly handle?: SqliteHandle | undefined
  readonly concurrencyMax?: number
}

const concurrencyMaxDefault = 2
const waitingMax = 20
const heapMegabytesMax = 512

export function createScanner({ database, handle, concurrencyMax = concurrencyMaxDefault }: ScannerOptions): Scanner {
  const ending = new AbortController()
  const authenticator = createAuthenticator(concurrencyMax, waitingMax)
  let code: Promise<WorkerCode> | undefined

  async function inTurn<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const either = AbortSignal.any([signal, ending.signal])
    let leave = () => {}
    try {
      leave = await authenticator.enter(either)
      either.throwIfAborted()
      return await run(either)
    } catch (error) {
      if (signal.aborted) throw invalid(null, 'cancelled', 'The client went away before the count was done.')
      throw databaseProblem(error)
    } finally {
      leave()
    }
  }

  async function inWorker(
    request: TallyRequest | WalkRequest,
    signal: AbortSignal,
    onMessage: (message: FromScan) => Promise<ToScan | undefined>,
  ): Promise<void> {
    code ??= findScanWorker()
    const found = await code
    signal.throwIfAborted()
    const ending = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const job: ScanJob = { database, request, ending }
    const options = {
      workerData: job,
      name: 'scan',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    }
    const worker =
      'file' in found ? new Worker(found.file, options) : new Worker(found.text, { ...options, eval: true })
    const gone = new Promise<void>(resolve => worker.once('exit', () => resolve()))
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        worker.on('error', reject)
        gone.then(resolve)
        worker.on('message', (message: FromScan) => {
          if (Atomics.load(ending, 0) !== 0) return
          if (message.kind === 'failure') return reject(failureOf(message))
          onMessage(message).then(answer => answer && worker.postMessage(answer), reject)
        })
      })
    } finally {
      // A thread that is ended within a call of the SQLite library takes the whole process along, so it ends by itself.
      Atomics.store(ending, 0, 1)
      worker.postMessage({ goOn: false } satisfies ToScan)
      await (database.kind === 'sqlite' ? gone : worker.terminate())
    }
  }

  return {
    tally: (request, signal, onProgress = () => {}) =>
      inTurn(signal, async either => {
        if (handle) {
          return tally(sourceOn(handle, request), request, async processed => {
            onProgress(processed)
            await turn()
            either.throwIfAborted()
          })
        }
        let result: Tally | undefined
        await inWorker(request, either, async message => {
          if (message.kind === 'progress') onProgress(message.processed)
          if (message.kind === 'tally') result = message.tally
          return undefined
        })
        if (!result) throw new Error('The scan ended without an answer.')
        return result
      }),
    walk: (request, signal, onStep) =>
      inTurn(signal, async either => {
        if (handle) {
          return walk(sourceOn(handle, request), request, async step => {
            await turn()
            either.throwIfAborted()
            return onStep(step)
          })
        }
        let isComplete = false
        await inWorker(request, either, async message => {
          if (message.kind === 'end') isComplete = true
          return message.kind === 'step' ? { goOn: await onStep(message.step) } : undefined
        })
        if (!isComplete) throw new Error('The scan ended before it was through.')
      }),
    async close() {
      ending.abort(new Problem('unavailable', 'Halyard is shutting down. Try again.', { retryAfterSeconds: 1 }))
      await authenticator.empty()
    },
  }
}

const failureOf = ({ message, code }: { message: string; code: string | undefined }): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code })

/** Lets a few in at a time; others wait in line, and when the line is too long they are sent away. */
function createAuthenticator(insideMax: number, waitingMax: number) {
  const waiting: (() => void)[] = []
  const emptied: (() => void)[] = []
  let inside = 0

  function leave(): void {
    const next = waiting.shift()
    // Whoever waited longest takes the place over, so that nobody slips in between.
    if (next) next()
    else inside -= 1
    if (inside === 0) for (const resolve of emptied.splice(0)) resolve()
  }

  return {
    async enter(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted()
      if (inside < insideMax) inside += 1
      else {
        if (waiting.length >= waitingMax) {
          throw new Problem('throttled', 'Too many counts are under way. Try again in a moment.', {
            retryAfterSeconds: 5,
          })
        }
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve)
          signal.addEventListener('abort', () => {
            const place = waiting.indexOf(resolve)
            if (place === -1) return
            waiting.splice(place, 1)
            reject(signal.reason)
          })
        })
      }
      return leave
    },
    empty: (): Promise<void> => (inside === 0 ? Promise.resolve() : new Promise(resolve => emptied.push(resolve))),
  }
}
