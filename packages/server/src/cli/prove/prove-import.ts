import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { certificateDifferencesMax, certificateFlagsMax, type ImportCertificate } from '@halyard/contract'
import {
  convertersBySource,
  type ImportedFlag,
  type ImportedProject,
  type ImportItem,
  type ImportOptions,
  type ImportSource,
  refuseDependents,
  sdkDocumentOf,
} from '@halyard/importers'
import { version } from '../../version.ts'
import { compileImported, evaluateImported, type ProofContext } from './evaluate-imported.ts'
import { proofContexts } from './proof-contexts.ts'
import { Random } from './random.ts'
import type { VendorSdk } from './vendor-sdks.ts'

export type Difference = ImportCertificate['differences'][number]

interface FlagTally {
  readonly item: ImportItem
  pairs: number
  equal: number
}

/** What comparing one or more documents has shown. */
export interface Tally {
  contexts: number
  pairs: number
  equal: number
  /** Exact flags with different values. */
  differing: number
  /** Approximate flags with different values, whose reasons name such differences. */
  declared: number
  sdkErrors: number
  readonly flags: FlagTally[]
  readonly differences: Difference[]
}

export const newTally = (): Tally => ({
  contexts: 0,
  pairs: 0,
  equal: 0,
  differing: 0,
  declared: 0,
  sdkErrors: 0,
  flags: [],
  differences: [],
})

export interface Proof {
  readonly source: ImportSource
  /** Parsed. */
  readonly document: unknown
  readonly options: ImportOptions
  readonly sdk: VendorSdk
  readonly random: Random
  /** Compares until one of them is reached. */
  readonly pairsMax: number
  readonly contextsMax: number
  readonly onProgress?: (pairs: number) => void
}

const contextsPerStep = 500

/** Evaluates the document with the service's SDK and with Halyard, and adds what differs to the tally. */
export async function compareDocument(proof: Proof, tally: Tally): Promise<void> {
  const { source, document, options, sdk, random, pairsMax, contextsMax, onProgress } = proof
  const project = withoutInvalid(convertersBySource[source]!(document, options))
  const snapshot = compileImported(project)
  const flagItems = project.items.filter(({ kind }) => kind === 'flag')
  const tallies = new Map(flagItems.map(item => [item.sourceId, { item, pairs: 0, equal: 0 }]))
  tally.flags.push(...tallies.values())
  if (project.flags.length === 0) return
  const now = Date.now()
  const there = await sdk.load(sdkDocumentOf(source, document, options))
  try {
    await compareAll()
  } finally {
    await there.close()
  }

  async function compareAll(): Promise<void> {
    const end = tally.pairs + pairsMax
    for (let step = 0; step < contextsMax && tally.pairs < end; step += contextsPerStep) {
      const pairsBefore = tally.pairs
      for (const context of proofContexts(project, snapshot, random, Math.min(contextsPerStep, contextsMax - step))) {
        tally.contexts++
        const here = evaluateImported(project, snapshot, context, now)
        for (const flag of project.flags) await comparePair(context, flag, here.get(flag.key))
        if (tally.pairs >= end) break
      }
      onProgress?.(tally.pairs)
      // The SDK has no value for any flag, and more people would not change that.
      if (tally.pairs === pairsBefore) break
    }
  }

  async function comparePair(context: ProofContext, flag: ImportedFlag, here: unknown): Promise<void> {
    const { value, trace } = await there.evaluate(context, flag)
    if (value === undefined) {
      tally.sdkErrors++
      return
    }
    const ofFlag = tallies.get(flag.sourceId)!
    tally.pairs++
    ofFlag.pairs++
    if (isDeepStrictEqual(here, value)) {
      tally.equal++
      ofFlag.equal++
      return
    }
    const { status } = ofFlag.item
    if (status === 'exact') tally.differing++
    else tally.declared++
    if (!takesDifference(tally, status)) return
    const subject = { distinctId: context.id, personProperties: context.attributes }
    tally.differences.push({
      flag: ofFlag.item.sourceKey,
      status,
      context: { id: context.id, attributes: { ...context.attributes } },
      there: value,
      here,
      there_trace: jsonOf(trace),
      here_trace: jsonOf(snapshot.explain(subject, { key: flag.key, now })),
    })
  }
}

/** As the server does, refuses flags that the engine does not accept, and what depends on them. */
function withoutInvalid(project: ImportedProject): ImportedProject {
  const { issues, flags } = compileImported(project)
  const keys = new Map(
    flags.flatMap(({ key, definition }) =>
      (issues.get(definition.id) ?? []).slice(0, 1).map(issue => [key, issue] as const),
    ),
  )
  if (keys.size === 0) return project
  const refused = new Map(
    project.flags.flatMap(({ key, sourceId }) => (keys.has(key) ? [[sourceId, keys.get(key)!] as const] : [])),
  )
  return refuseDependents({
    ...project,
    flags: project.flags.filter(({ sourceId }) => !refused.has(sourceId)),
    items: project.items.map(item => {
      const issue = item.kind === 'flag' ? refused.get(item.sourceId) : undefined
      return issue
        ? { ...item, status: 'refused', reasons: [...item.reasons, { message: issue.message, path: issue.path }] }
        : item
    }),
  })
}

/** Differences of approximate flags, which are expected, take at most half of the list. */
function takesDifference({ differences }: Tally, status: ImportItem['status']): boolean {
  if (differences.length >= certificateDifferencesMax) return false
  if (status === 'exact') return true
  return differences.filter(difference => difference.status !== 'exact').length < certificateDifferencesMax / 2
}

const traceCharactersMax = 32 * 1024

/** What an SDK returns may not be JSON. */
function jsonOf(trace: unknown): unknown {
  try {
    const text = JSON.stringify(trace)
    return text === undefined ? null : text.length > traceCharactersMax ? 'The trace is too large.' : JSON.parse(text)
  } catch {
    return String(trace)
  }
}

const countOf = (flags: readonly FlagTally[], status: ImportItem['status']): number =>
  flags.filter(({ item }) => item.status === status).length

/** Where the SDK leaves many flags to its server, a pair takes several people. */
const contextsPerPairMax = 10

const textCharactersMax = 1000
const reasonsMax = 100

/** The certificate of one file. */
export async function proveImport({
  content,
  seed,
  ...proof
}: Omit<Proof, 'random' | 'contextsMax'> & {
  readonly content: string
  readonly seed: number
}): Promise<ImportCertificate> {
  const tally = newTally()
  const { source, options, sdk, pairsMax } = proof
  await compareDocument({ ...proof, random: new Random(seed), contextsMax: pairsMax * contextsPerPairMax }, tally)
  const { flags, sdkErrors, differences, ...counts } = tally
  const isNotable = ({ item, pairs, equal }: FlagTally): boolean => item.status !== 'exact' || pairs !== equal
  const ordered = [...flags.filter(isNotable), ...flags.filter(flag => !isNotable(flag))]
  return {
    source,
    environment: options.environment ?? null,
    file_sha256: createHash('sha256').update(content).digest('hex'),
    sdk: sdk.packageName,
    sdk_version: sdk.version,
    halyard_version: version,
    node_version: process.versions.node,
    seed,
    ...counts,
    sdk_errors: sdkErrors,
    exact: countOf(flags, 'exact'),
    approximate: countOf(flags, 'approximate'),
    refused: countOf(flags, 'refused'),
    flags: ordered.slice(0, certificateFlagsMax).map(({ item, pairs, equal }) => ({
      key: item.sourceKey.slice(0, textCharactersMax),
      status: item.status,
      reasons: item.reasons.slice(0, reasonsMax).map(({ message }) => message.slice(0, textCharactersMax)),
      pairs,
      equal,
    })),
    differences: differences.sort((left, right) => Number(right.status === 'exact') - Number(left.status === 'exact')),
  }
}
