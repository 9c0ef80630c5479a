import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSourceOf } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanJob, ToScan } from './scan-messages.ts'

/** One scan in a thread of its own, so that going through a million people holds up nobody. */
const { database, request, ending } = workerData as ScanJob
const port = parentPort!
const tell = (message: FromScan) => port.postMessage(message)
const openSource = openSourceOf(database, request)
const isEnding = (): boolean => Atomics.load(ending, 0) !== 0

/** Behind those who answer requests. On Linux a priority is a thread's own; elsewhere it is the whole process's, which it is left to. */
const niceness = 5
if (process.platform === 'linux') setPriority(niceness)

async function run(): Promise<void> {
  if (isEnding()) return
  if (request.kind === 'tally') {
    const counted = await tally(openSource, request, processed => {
      if (isEnding()) throw new Error('Nobody waits for this count any more.')
      tell({ kind: 'progress', processed })
    })
    tell({ kind: 'tally', tally: counted })
    return
  }
  await walk(openSource, request, async step => {
    if (isEnding()) return false
    const answered = new Promise<ToScan>(resolve => port.once('message', resolve))
    tell({ kind: 'step', step })
    return (await answered).goOn
  })
  tell({ kind: 'end' })
}

run()
  .catch((error: Error & { code?: unknown }) => {
    tell({ kind: 'failure', message: error.message, code: typeof error.code === 'string' ? error.code : undefined })
  })
  .finally(() => port.close())
