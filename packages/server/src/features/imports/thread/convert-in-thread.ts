import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Conversion } from '@halyard/migrate/convert/convert-file'
import type { ImportedCohort, ImportedFlag, ImportedProject, ImportItem } from '@halyard/migrate/model'
import { Semaphore } from '../../../concurrency/semaphore.ts'
import { findWorkerCode } from '../../../concurrency/worker-code.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { FromConversion } from './import-messages.ts'

const heapMegabytesMax = 2048

/** Each holds a file in memory twice. */
const conversions = new Semaphore({
  permits: 2,
  queueMax: 10,
  message: 'Too many files are being read; nothing was imported. Try again.',
})

/** As `convertFile`, in a worker thread. */
export async function convertInThread(
  request: Conversion,
  onConverted: (total: number) => (checked: number) => void,
): Promise<ImportedProject> {
  const release = await conversions.acquire()
  try {
    return await runConversion(request, onConverted)
  } finally {
    release()
  }
}

async function runConversion(
  { source, document, options, project: { groupTypes, propertyMatchingVersion } }: Conversion,
  onConverted: (total: number) => (checked: number) => void,
): Promise<ImportedProject> {
  const code = await findWorkerCode('import-worker', new URL('./import-worker.ts', import.meta.url))
  const workerOptions = {
    workerData: {
      source,
      document,
      options,
      project: { groupTypes, propertyMatchingVersion },
    } satisfies Conversion,
    name: 'import',
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  }
  const worker =
    'file' in code ? new Worker(code.file, workerOptions) : new Worker(code.text, { ...workerOptions, eval: true })
  const flags: ImportedFlag[] = []
  const cohorts: ImportedCohort[] = []
  const items: ImportItem[] = []
  let onChecked = (_checked: number): void => {}
  // It exits on its own after its last message.
  return new Promise<ImportedProject>((resolve, reject) => {
    worker.once('error', error => reject(failureOf(error)))
    worker.once('exit', () => reject(new Error('The conversion ended without a result.')))
    worker.on('message', (message: FromConversion) => {
      if (message.kind === 'converted') onChecked = onConverted(message.total)
      else if (message.kind === 'checked') onChecked(message.count)
      else if (message.kind === 'problem') reject(problemOf(message.problem))
      else if (message.kind === 'end') resolve({ ...message.rest, flags, cohorts, items })
      else {
        flags.push(...(message.part.flags ?? []))
        cohorts.push(...(message.part.cohorts ?? []))
        items.push(...(message.part.items ?? []))
        void yieldToEventLoop().then(() => worker.postMessage('next'))
      }
    })
  })
}

const problemOf = ({
  kind,
  message,
  code,
  field,
  extra,
}: Extract<FromConversion, { kind: 'problem' }>['problem']): Problem =>
  new Problem(kind, message, { field, ...(code !== undefined && { code }), ...(extra !== undefined && { extra }) })

function failureOf(error: unknown): unknown {
  const isTooLarge = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isTooLarge ? invalid('content', 'max_length', 'The file needs too much memory; split it.') : error
}
