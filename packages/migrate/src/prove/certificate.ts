import { createHash } from 'node:crypto'
import { flagCounts, type ImportItem, importStatuses } from '../model/model.ts'
import { compareDocument, type FlagTally, newTally, type Proof } from './compare-document.ts'
import { Random } from './random.ts'

/** Where the SDK leaves many flags to its server, a pair takes several people. */
const contextsPerPairMax = 10

const textCharactersMax = 1000
const reasonsMax = 100

export interface CertificateOptions extends Omit<Proof, 'random' | 'contextsMax'> {
  /** The text of the file. */
  readonly content: string
  readonly seed: number
  readonly halyardVersion: string
  readonly nodeVersion: string
  /** Flags that the certificate lists; those that are not all equal come first. */
  readonly flagsMax: number
}

/** In the form in which the API stores it. */
export type Certificate = Awaited<ReturnType<typeof proveImport>>['certificate']

/** Compares one file: its certificate, and the items of the file that were compared. */
export async function proveImport(options: CertificateOptions) {
  const { content, seed, halyardVersion, nodeVersion, flagsMax, ...proof } = options
  const tally = newTally()
  const { source, sdk, pairsMax } = proof
  const imported = await compareDocument(
    { ...proof, random: new Random(seed), contextsMax: pairsMax * contextsPerPairMax },
    tally,
  )
  const { flags, sdkErrors, differences, ...counts } = tally
  const ordered = [...flags.filter(isNotable), ...flags.filter(flag => !isNotable(flag))]
  const certificate = {
    source,
    environment: imported.environment,
    file_sha256: createHash('sha256').update(content).digest('hex'),
    sdk: sdk.packageName,
    sdk_version: sdk.version,
    halyard_version: halyardVersion,
    node_version: nodeVersion,
    seed,
    ...counts,
    sdk_errors: sdkErrors,
    ...flagCounts(flags.map(({ item }) => item)),
    flags: ordered.slice(0, flagsMax).map(listed),
    differences: differences.sort((left, right) => Number(right.status === 'exact') - Number(left.status === 'exact')),
  }
  return { certificate, items: imported.items }
}

const isNotable = ({ item, pairs, equal }: FlagTally): boolean =>
  item.status !== 'exact' || pairs !== equal || pairs === 0

const listed = ({ item, pairs, equal, obstacle }: FlagTally) => ({
  key: item.sourceKey.slice(0, textCharactersMax),
  status: item.status,
  reasons: item.reasons.slice(0, reasonsMax).map(({ message }) => message.slice(0, textCharactersMax)),
  pairs,
  equal,
  ...(pairs === 0 && obstacle !== undefined && { not_compared: obstacle.slice(0, textCharactersMax) }),
})

/** A certificate of another conversion proves nothing about the import: which field is not that of the import, and why. */
export function mismatchOf(
  certificate: Pick<Certificate, (typeof importStatuses)[number]> & {
    readonly flags: readonly Pick<Certificate['flags'][number], 'key' | 'status'>[]
  },
  items: readonly Pick<ImportItem, 'kind' | 'status' | 'sourceKey'>[],
): { readonly field: string; readonly message: string } | undefined {
  const counts = flagCounts(items)
  for (const status of importStatuses) {
    if (certificate[status] === counts[status]) continue
    const message = `The import has ${counts[status]} flags that are ${status}, the certificate ${certificate[status]}; prove this import.`
    return { field: status, message }
  }
  const flags = items.filter(({ kind }) => kind === 'flag')
  const statuses = new Map(flags.map(({ sourceKey, status }) => [sourceKey, status]))
  for (const [index, { key, status }] of certificate.flags.entries()) {
    if (statuses.get(key) === status) continue
    const message = `The flag is ${statuses.get(key) ?? 'missing'} in the import; prove this import.`
    return { field: `flags__${index}`, message }
  }
  return undefined
}

/** For people. Differences of exact flags are faults; those of approximate flags are named by their reasons. */
export function* certificateLines(certificate: Certificate): Generator<string> {
  const { sdk, sdk_version: version, seed, pairs, equal, differing, declared, sdk_errors: errors } = certificate
  for (const { key, pairs: compared, status, not_compared: why = 'no comparison was made' } of certificate.flags) {
    if (compared === 0 && status !== 'refused') yield `not compared  flag ${key}\n  ${why}`
  }
  for (const { flag, status, context, there, here, there_trace: trace, here_trace: own } of certificate.differences) {
    if (status !== 'exact') continue
    const groups = Object.keys(context.groups).length === 0 ? '' : ` ${JSON.stringify(context.groups)}`
    yield `differs  flag ${flag} for ${context.id} ${JSON.stringify(context.attributes)}${groups}`
    yield `  ${sdk}: ${JSON.stringify(there)} ${JSON.stringify(trace)}`
    yield `  halyard: ${JSON.stringify(here)} ${JSON.stringify(own)}`
  }
  yield `${pairs} comparisons with ${sdk} ${version}, seed ${seed}: ${equal} equal.`
  yield `${differing} differ for exact flags, ${declared} for approximate flags.`
  if (errors > 0) yield `For ${errors} more, the SDK has no value.`
}
