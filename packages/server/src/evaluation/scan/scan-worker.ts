import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSourceOf } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanData, ToScan } from './scan-messages.ts'
import type { TallyRequest, WalkRequest } from './scan-request.ts'

/** Runs scans in a worker thread, so that scanning a million persons does not block the event loop. */
const { database, ending } = workerData as ScanData
const port = parentPort!
const send = (message: FromScan) => port.postMessage(message)
const isEnding = (): boolean => Atomics.load(ending, 0) !== 0
let isScanning = false
let resume = (_shouldContinue: boolean) => {}

/** Lower priority than the threads that serve requests. Only Linux has a priority per thread. */
const niceness = 5
if (process.platform === 'linux') setPriority(niceness)

port.on('message', async (message: ToScan) => {
  if (message.kind === 'start') await scan(message.request)
  else resume(message.kind === 'continue' && message.shouldContinue)
  // Nothing keeps the thread alive after that.
  if (isEnding() && !isScanning) port.close()
})

async function scan(request: TallyRequest | WalkRequest): Promise<void> {
  isScanning = true
  try {
    if (!isEnding()) await (request.kind === 'tally' ? count(request) : step(request))
    send({ kind: 'end' })
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    send({ kind: 'failure', message, code: typeof code === 'string' ? code : undefined })
  }
  isScanning = false
}

async function count(request: TallyRequest): Promise<void> {
  const counted = await tally(openSourceOf(database, request), request, processed => {
    if (isEnding()) throw new Error('The scan was canceled.')
    send({ kind: 'progress', processed })
  })
  send({ kind: 'tally', tally: counted })
}

async function step(request: WalkRequest): Promise<void> {
  await walk(openSourceOf(database, request), request, step => {
    if (isEnding()) return Promise.resolve(false)
    const reply = new Promise<boolean>(resolve => {
      resume = resolve
    })
    send({ kind: 'step', step })
    return reply
  })
}
