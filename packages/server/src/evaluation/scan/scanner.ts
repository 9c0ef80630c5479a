import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { findWorkerCode } from '../../concurrency/worker-code.ts'
import { countIdsOf, type FindCountedEvents } from '../../domain/counted-event.ts'
import { invalid, Problem } from '../../problem.ts'
import { databaseProblem } from '../../storage/driver-error.ts'
import type { SqliteHandle } from '../../storage/sqlite/sqlite-connection.ts'
import { sourceOn } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanData, ToScan } from './scan-messages.ts'
import type { Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'
import { type ScanThread, startScanThread } from './scan-thread.ts'

/** Evaluates flags for all persons or groups of a project in worker threads, with limited concurrency. */
export interface Scanner {
  /** Throws `throttled` when the queue is full, `unavailable` when the database is, and `invalid` when the signal was aborted. */
  tally(request: TallyRequest, signal: AbortSignal, onProgress?: (processed: number) => void): Promise<Tally>
  /** Runs until the end or until `onStep` returns false. Throws like `tally`, and what `onStep` throws. */
  walk(request: WalkRequest, signal: AbortSignal, onStep: (step: WalkStep) => Promise<boolean>): Promise<void>
  /** Aborts running scans. */
  close(): Promise<void>
}

interface ScannerOptions {
  readonly database: ScanData['database']
  /** Set for an in-memory database, which other threads cannot open. */
  readonly handle?: SqliteHandle | undefined
  readonly concurrencyMax?: number
  /** The events that are counted in a project, by name. */
  readonly findCountedEvents?: FindCountedEvents
}

const concurrencyMaxDefault = 2
const queuedMax = 20
const idleMilliseconds = 10_000

export function createScanner({
  database,
  handle,
  concurrencyMax = concurrencyMaxDefault,
  findCountedEvents = async () => new Map(),
}: ScannerOptions): Scanner {
  const ending = new AbortController()
  const limiter = createConcurrencyLimiter(concurrencyMax, queuedMax)
  const idle = new Map<ScanThread, NodeJS.Timeout>()

  async function complete<R extends TallyRequest | WalkRequest>(request: R): Promise<R> {
    const counted = await findCountedEvents(request.projectId)
    return { ...request, countedEvents: new Map([...counted].map(([name, event]) => [name, countIdsOf(event)])) }
  }

  async function withinLimit<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const either = AbortSignal.any([signal, ending.signal])
    let release = () => {}
    try {
      release = await limiter.acquire(either)
      either.throwIfAborted()
      return await run(either)
    } catch (error) {
      if (signal.aborted)
        throw invalid(null, 'cancelled', 'The client closed the connection before the count was done.')
      throw databaseProblem(error)
    } finally {
      release()
    }
  }

  /** A thread takes a tenth of a second to start, so it is kept for the next scan. */
  async function inThread(
    request: TallyRequest | WalkRequest,
    signal: AbortSignal,
    onMessage: (message: FromScan) => Promise<ToScan | undefined>,
  ): Promise<void> {
    const code = await findWorkerCode('scan-worker', new URL('./scan-worker.ts', import.meta.url))
    signal.throwIfAborted()
    const thread = takeIdle() ?? startScanThread(code, database)
    await thread.run(request, signal, onMessage)
    if (ending.signal.aborted) return thread.exit()
    const timeout = setTimeout(() => {
      idle.delete(thread)
      thread.exit()
    }, idleMilliseconds).unref()
    idle.set(thread, timeout)
  }

  function takeIdle(): ScanThread | undefined {
    for (const [thread, timeout] of idle) {
      clearTimeout(timeout)
      idle.delete(thread)
      if (!thread.hasExited()) return thread
    }
    return undefined
  }

  return {
    tally: (asked, signal, onProgress = () => {}) =>
      withinLimit(signal, async either => {
        const request = await complete(asked)
        if (handle) {
          return tally(sourceOn(handle, request), request, async processed => {
            onProgress(processed)
            await yieldToEventLoop()
            either.throwIfAborted()
          })
        }
        let result: Tally | undefined
        await inThread(request, either, async message => {
          if (message.kind === 'progress') onProgress(message.processed)
          if (message.kind === 'tally') result = message.tally
          return undefined
        })
        if (!result) throw new Error('The scan ended without a result.')
        return result
      }),
    walk: (asked, signal, onStep) =>
      withinLimit(signal, async either => {
        const request = await complete(asked)
        if (handle) {
          return walk(sourceOn(handle, request), request, async step => {
            await yieldToEventLoop()
            either.throwIfAborted()
            return onStep(step)
          })
        }
        await inThread(request, either, async message =>
          message.kind === 'step' ? { kind: 'continue', shouldContinue: await onStep(message.step) } : undefined,
        )
      }),
    async close() {
      ending.abort(new Problem('unavailable', 'The server is shutting down. Retry later.', { retryAfterSeconds: 1 }))
      await limiter.drained()
      for (let thread = takeIdle(); thread; thread = takeIdle()) await thread.exit()
    },
  }
}

/** A semaphore with a bounded FIFO queue. */
function createConcurrencyLimiter(activeMax: number, queuedMax: number) {
  const queue: (() => void)[] = []
  const drainListeners: (() => void)[] = []
  let active = 0

  function release(): void {
    const next = queue.shift()
    // The slot is handed over to the first in the queue, so that no later caller can take it.
    if (next) next()
    else active -= 1
    if (active === 0) for (const resolve of drainListeners.splice(0)) resolve()
  }

  return {
    async acquire(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted()
      if (active < activeMax) active += 1
      else {
        if (queue.length >= queuedMax) {
          throw new Problem('throttled', 'Too many counts are in progress. Retry later.', {
            retryAfterSeconds: 5,
          })
        }
        await new Promise<void>((resolve, reject) => {
          queue.push(resolve)
          signal.addEventListener('abort', () => {
            const position = queue.indexOf(resolve)
            if (position === -1) return
            queue.splice(position, 1)
            reject(signal.reason)
          })
        })
      }
      return release
    },
    drained: (): Promise<void> =>
      active === 0 ? Promise.resolve() : new Promise(resolve => drainListeners.push(resolve)),
  }
}
