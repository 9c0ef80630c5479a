import { Worker } from 'node:worker_threads'
import type { WorkerCode } from '../../concurrency/worker-code.ts'
import type { FromScan, ScanData, ToScan } from './scan-messages.ts'
import type { TallyRequest, WalkRequest } from './scan-request.ts'

/** A worker thread that runs one scan at a time. */
export interface ScanThread {
  /** Rejects when the scan fails or the signal is aborted; the thread has exited then. */
  run(
    request: TallyRequest | WalkRequest,
    signal: AbortSignal,
    onMessage: (message: FromScan) => Promise<ToScan | undefined>,
  ): Promise<void>
  hasExited(): boolean
  exit(): Promise<void>
}

const heapMegabytesMax = 512

export function startScanThread(code: WorkerCode, database: ScanData['database']): ScanThread {
  const ending = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const options = {
    workerData: { database, ending } satisfies ScanData,
    name: 'scan',
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  }
  const worker = 'file' in code ? new Worker(code.file, options) : new Worker(code.text, { ...options, eval: true })
  const post = (message: ToScan) => worker.postMessage(message)
  let receive = (_message: FromScan) => {}
  let fail = (_error: Error) => {}
  let hasExited = false
  const exited = new Promise<void>(resolve => {
    worker.once('exit', () => {
      hasExited = true
      fail(new Error('The scan ended without a result.'))
      resolve()
    })
  })
  worker.on('error', error => fail(error as Error))
  worker.on('message', (message: FromScan) => receive(message))
  // Waiting for a scan does not keep the process alive.
  worker.unref()

  async function exit(): Promise<void> {
    // Terminating a thread inside a call of the SQLite library crashes the process, so it exits on its own.
    Atomics.store(ending, 0, 1)
    post({ kind: 'exit' })
    await (database.kind === 'sqlite' ? exited : worker.terminate())
  }

  return {
    async run(request, signal, onMessage) {
      worker.ref()
      const isDone = new AbortController()
      try {
        await new Promise<void>((resolve, reject) => {
          fail = reject
          signal.addEventListener('abort', () => reject(signal.reason), { signal: isDone.signal })
          receive = message => {
            if (message.kind === 'failure') reject(failureOf(message))
            else if (message.kind === 'end') resolve()
            else onMessage(message).then(reply => reply && post(reply), reject)
          }
          post({ kind: 'start', request })
        })
        worker.unref()
        receive = () => {}
      } catch (error) {
        receive = () => {}
        await exit()
        throw error
      } finally {
        fail = () => {}
        isDone.abort()
      }
    },
    hasExited: () => hasExited,
    exit,
  }
}

const failureOf = ({ message, code }: { message: string; code: string | undefined }): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code })
