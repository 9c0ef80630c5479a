import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSourceOf } from './open-source.sql.ts'
import { tally, walk } from './scan.ts'
import type { FromScan, ScanJob, ToScan } from './scan-messages.ts'

/** One scan in a thread of its own, so that going through a million people holds up nobody. */
const { database, request } = workerData as ScanJob
const port = parentPort!
const tell = (message: FromScan) => port.postMessage(message)
const openSource = openSourceOf(database, request)

/** Behind those who answer requests. On Linux a priority is a thread's own; elsewhere it is the whole process's, which it is left to. */
const niceness = 5
if (process.platform === 'linux') setPriority(niceness)

async function run(): Promise<void> {
  if (request.kind === 'tally') {
    tell({ kind: 'tally', tally: await tally(openSource, request, processed => tell({ kind: 'progress', processed })) })
    return
  }
  await walk(openSource, request, async step => {
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
