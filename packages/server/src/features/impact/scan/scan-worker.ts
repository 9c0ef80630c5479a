import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSourceOf } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanJob, ToScan } from './scan-messages.ts'

/** Runs one scan in a worker thread, so that scanning a million persons does not block the event loop. */
const { database, request, ending } = workerData as ScanJob
const port = parentPort!
const send = (message: FromScan) => port.postMessage(message)
const openSource = openSourceOf(database, request)
const isEnding = (): boolean => Atomics.load(ending, 0) !== 0

/** Lower priority than the threads that serve requests. Only Linux has a priority per thread. */
const niceness = 5
if (process.platform === 'linux') setPriority(niceness)

async function run(): Promise<void> {
  if (isEnding()) return
  if (request.kind === 'tally') {
    const counted = await tally(openSource, request, processed => {
      if (isEnding()) throw new Error('The scan was canceled.')
      send({ kind: 'progress', processed })
    })
    send({ kind: 'tally', tally: counted })
    return
  }
  await walk(openSource, request, async step => {
    if (isEnding()) return false
    const reply = new Promise<ToScan>(resolve => port.once('message', resolve))
    send({ kind: 'step', step })
    return (await reply).shouldContinue
  })
  send({ kind: 'end' })
}

run()
  .catch((error: Error & { code?: unknown }) => {
    send({ kind: 'failure', message: error.message, code: typeof error.code === 'string' ? error.code : undefined })
  })
  .finally(() => port.close())
