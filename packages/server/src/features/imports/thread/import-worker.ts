import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Conversion } from '@halyard/migrate/convert/convert-file'
import { Problem } from '../../../problem.ts'
import { convertFile } from '../convert-file.ts'
import type { ConvertedPart, FromConversion } from './import-messages.ts'

/** Converts one file in a worker thread, so that thousands of flags do not block the event loop. */
const conversion = workerData as Conversion
const port = parentPort!
const send = (message: FromConversion) => port.postMessage(message)

/** Lower priority than the threads that serve requests. Only Linux has a priority per thread. */
const niceness = 5
if (process.platform === 'linux') setPriority(niceness)

const itemsPerPart = 250
const itemsPerReport = 250

function* partsOf<T>(list: readonly T[], part: (items: readonly T[]) => ConvertedPart): Generator<ConvertedPart> {
  for (let at = 0; at < list.length; at += itemsPerPart) yield part(list.slice(at, at + itemsPerPart))
}

async function convert(): Promise<void> {
  const converted = await convertFile(conversion, total => {
    send({ kind: 'converted', total })
    return count => {
      if (count % itemsPerReport === 0 || count === total) send({ kind: 'checked', count })
    }
  })
  const { flags, cohorts, items, ...rest } = converted
  const parts = [
    ...partsOf(flags, flags => ({ flags })),
    ...partsOf(cohorts, cohorts => ({ cohorts })),
    ...partsOf(items, items => ({ items })),
  ].values()
  const sendNext = (): void => {
    const { value: part } = parts.next()
    send(part === undefined ? { kind: 'end', rest } : { kind: 'part', part })
    if (part === undefined) port.close()
  }
  port.on('message', sendNext)
  sendNext()
}

convert().catch((error: unknown) => {
  if (!(error instanceof Problem)) throw error
  const { kind, message, code, field, extra } = error
  send({ kind: 'problem', problem: { kind, message, code, field, extra } })
})
