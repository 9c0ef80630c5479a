import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { certificateDifferencesMax, certificateFlagsMax, type ImportCertificate } from '@halyard/contract'
import type { ImportItem, ImportOptions, ImportSource, TargetProject } from '@halyard/migrate/model'
import { type Certificate, proveImport } from '@halyard/migrate/prove/certificate'
import { installLine, provenSources } from '@halyard/migrate/prove/vendor-sdks'
import { fileProblem, readContent, targetRules } from '../../features/imports/convert-file.ts'
import { Problem } from '../../problem.ts'
import { version } from '../../version.ts'
import { progress } from '../output.ts'
import { CommandError } from '../usage.ts'
import { findSdk } from './find-sdk.ts'

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
): Promise<{ readonly certificate: Certificate; readonly items: readonly ImportItem[] }> {
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
    const proven = await proveImport({
      source,
      content,
      document: readContent(content),
      options,
      project,
      rules: targetRules,
      sdk,
      seed,
      pairsMax: pairs,
      flagsMax: certificateFlagsMax,
      differencesMax: certificateDifferencesMax,
      halyardVersion: version,
      nodeVersion: process.versions.node,
      onProgress: progressIn(pairs),
    })
    const { pairs: compared, exact, approximate } = proven.certificate
    if (compared === 0 && exact + approximate > 0) {
      throw new CommandError('The SDK has no value for any flag of the file, so nothing was proven or imported.')
    }
    return proven
  } catch (error) {
    const problem = fileProblem(error)
    if (!(problem instanceof Problem)) throw error
    throw new CommandError(problem.message)
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
