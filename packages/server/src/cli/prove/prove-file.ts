import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ImportCertificate } from '@halyard/contract'
import type { ImportOptions, ImportSource } from '@halyard/importers'
import type { TargetProject } from '../../features/imports/check-imported.ts'
import { readContent } from '../../features/imports/convert-file.ts'
import { Problem } from '../../problem.ts'
import { progress } from '../output.ts'
import { CommandError } from '../usage.ts'
import { type ProvenImport, proveImport } from './prove-import.ts'
import { findSdk, installLine, provenSources } from './vendor-sdks.ts'

export interface ProveFileOptions {
  /** The SDK is in its `node_modules`, or above it. */
  readonly sdkFrom: string
  readonly pairs: number
  /** Random by default. */
  readonly seed?: number
  readonly importOptions: ImportOptions
  readonly project: TargetProject
}

/** `--prove` of `halyard import-from`: the certificate of one file. Raises CommandError with one sentence. */
export async function proveFile(
  source: ImportSource,
  content: string,
  { sdkFrom, pairs, seed = Math.floor(Math.random() * 2 ** 31), importOptions: options, project }: ProveFileOptions,
): Promise<ProvenImport> {
  if (!provenSources.includes(source)) {
    throw new CommandError(`--prove is not possible for ${source}: there is no SDK on npm that evaluates its files.`)
  }
  const directory = resolve(sdkFrom)
  const sdk = findSdk(source, directory)
  if (sdk === undefined) {
    throw new CommandError(`The SDK is not installed in ${directory}. Run there: ${installLine(source)}`)
  }
  progress(`Comparing with ${sdk.packageName} ${sdk.version}, seed ${seed}.`)
  try {
    const document = readContent(content)
    const onProgress = progressIn(pairs)
    const proof = { source, content, document, options, project, sdk, seed, pairsMax: pairs, onProgress }
    const proven = await proveImport(proof)
    const { pairs: compared, exact, approximate } = proven.certificate
    if (compared === 0 && exact + approximate > 0) {
      throw new CommandError('The SDK has no value for any flag of the file, so nothing was proven or imported.')
    }
    return proven
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new CommandError(error.message)
  }
}

/** A line for each tenth, so that logs stay short. */
function progressIn(pairs: number): (done: number) => void {
  let tenths = 0
  return done => {
    const reached = Math.floor((done / pairs) * 10)
    if (reached > tenths) progress(`${done} of ${pairs} comparisons`)
    tenths = Math.max(tenths, reached)
  }
}

export function writeCertificate(file: string, certificate: ImportCertificate): void {
  try {
    writeFileSync(file, `${JSON.stringify(certificate, null, 2)}\n`)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

/** Differences of exact flags are faults; those of approximate flags are named by their reasons. */
export function describeCertificate(certificate: ImportCertificate): void {
  const { sdk, sdk_version: version, seed, pairs, equal, differing, declared, sdk_errors: errors } = certificate
  for (const { key, pairs: compared, status, not_compared: why = 'no comparison was made' } of certificate.flags) {
    if (compared === 0 && status !== 'refused') console.log(`not compared  flag ${key}\n  ${why}`)
  }
  for (const { flag, context, there, here, there_trace: trace, here_trace: own } of certificate.differences.filter(
    ({ status }) => status === 'exact',
  )) {
    const groups = Object.keys(context.groups ?? {}).length === 0 ? '' : ` ${JSON.stringify(context.groups)}`
    console.log(`differs  flag ${flag} for ${context.id} ${JSON.stringify(context.attributes)}${groups}`)
    console.log(`  ${sdk}: ${JSON.stringify(there)} ${JSON.stringify(trace)}`)
    console.log(`  halyard: ${JSON.stringify(here)} ${JSON.stringify(own)}`)
  }
  console.log(`${pairs} comparisons with ${sdk} ${version}, seed ${seed}: ${equal} equal.`)
  console.log(`${differing} differ for exact flags, ${declared} for approximate flags.`)
  if (errors > 0) console.log(`For ${errors} more, the SDK has no value.`)
}
