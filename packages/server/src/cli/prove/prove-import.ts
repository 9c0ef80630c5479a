import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { certificateDifferencesMax, certificateFlagsMax, type ImportCertificate } from '@halyard/contract'
import {
  type ImportedFlag,
  type ImportedProject,
  type ImportItem,
  type ImportOptions,
  type ImportSource,
  sdkDocumentOf,
} from '@halyard/importers'
import type { TargetProject } from '../../features/imports/check-imported.ts'
import { convertFile } from '../../features/imports/convert-file.ts'
import { version } from '../../version.ts'
import { compileImported, evaluateImported, type ProofContext, subjectOf } from './evaluate-imported.ts'
import { proofContexts } from './proof-contexts.ts'
import { Random } from './random.ts'
import type { VendorSdk } from './vendor-sdks.ts'

export type Difference = ImportCertificate['differences'][number]

interface FlagTally {
  readonly item: ImportItem
  pairs: number
  equal: number
  /** Why the flag was not compared, where it was not. */
  obstacle?: string
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
  /** Into which it would be imported. */
  readonly project: TargetProject
  readonly sdk: VendorSdk
  readonly random: Random
  /** Compares until one of them is reached. */
  readonly pairsMax: number
  readonly contextsMax: number
  readonly onProgress?: (pairs: number) => void
}

const contextsPerStep = 500

/** Evaluates the document with the service's SDK and with Halyard, and adds what differs to the tally. */
export async function compareDocument(proof: Proof, tally: Tally): Promise<ImportedProject> {
  const { source, document, options, project: target, sdk, random, pairsMax, contextsMax, onProgress } = proof
  const project = await convertFile(source, document, options, target)
  const snapshot = compileImported(project, target)
  const flagItems = project.items.filter(({ kind }) => kind === 'flag')
  const tallies = new Map(flagItems.map((item): [string, FlagTally] => [item.sourceId, { item, pairs: 0, equal: 0 }]))
  tally.flags.push(...tallies.values())
  const compared = project.flags.filter(({ archived }) => !archived)
  for (const { sourceId, archived } of project.flags) {
    if (archived) tallies.get(sourceId)!.obstacle = 'It is archived, and off here.'
  }
  if (compared.length === 0) return project
  const now = Date.now()
  const there = await sdk.load(sdkDocumentOf(source, document, options))
  try {
    await compareAll()
  } finally {
    await there.close()
  }
  return project

  async function compareAll(): Promise<void> {
    const end = tally.pairs + pairsMax
    for (let step = 0; step < contextsMax && tally.pairs < end; step += contextsPerStep) {
      const pairsBefore = tally.pairs
      for (const context of proofContexts(project, snapshot, random, Math.min(contextsPerStep, contextsMax - step))) {
        tally.contexts++
        const here = evaluateImported(project, snapshot, context, now)
        for (const flag of compared) await comparePair(context, flag, here.get(flag.key))
        if (tally.pairs >= end) break
      }
      onProgress?.(tally.pairs)
      // The SDK has no value for any flag, and more people would not change that.
      if (tally.pairs === pairsBefore) break
    }
  }

  async function comparePair(context: ProofContext, flag: ImportedFlag, here: unknown): Promise<void> {
    const { value, error = 'no value', trace } = await there.evaluate(context, flag)
    const ofFlag = tallies.get(flag.sourceId)!
    if (value === undefined) {
      tally.sdkErrors++
      ofFlag.obstacle ??= `The SDK has no value: ${error}`
      return
    }
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
    tally.differences.push({
      flag: ofFlag.item.sourceKey,
      status,
      context: { id: context.id, attributes: { ...context.attributes }, groups: { ...context.groups } },
      there: value,
      here,
      there_trace: jsonOf(trace),
      here_trace: jsonOf(snapshot.explain(subjectOf(context), { key: flag.key, now })),
    })
  }
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

export interface ProvenImport {
  readonly certificate: ImportCertificate
  /** What was compared is what these say. */
  readonly items: readonly ImportItem[]
}

/** The certificate of one file. */
export async function proveImport({
  content,
  seed,
  ...proof
}: Omit<Proof, 'random' | 'contextsMax'> & {
  readonly content: string
  readonly seed: number
}): Promise<ProvenImport> {
  const tally = newTally()
  const { source, sdk, pairsMax } = proof
  const imported = await compareDocument(
    { ...proof, random: new Random(seed), contextsMax: pairsMax * contextsPerPairMax },
    tally,
  )
  const { flags, sdkErrors, differences, ...counts } = tally
  const isNotable = ({ item, pairs, equal }: FlagTally): boolean =>
    item.status !== 'exact' || pairs !== equal || pairs === 0
  const ordered = [...flags.filter(isNotable), ...flags.filter(flag => !isNotable(flag))]
  const certificate: ImportCertificate = {
    source,
    environment: imported.environment,
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
    flags: ordered.slice(0, certificateFlagsMax).map(({ item, pairs, equal, obstacle }) => ({
      key: item.sourceKey.slice(0, textCharactersMax),
      status: item.status,
      reasons: item.reasons.slice(0, reasonsMax).map(({ message }) => message.slice(0, textCharactersMax)),
      pairs,
      equal,
      ...(pairs === 0 && obstacle !== undefined && { not_compared: obstacle.slice(0, textCharactersMax) }),
    })),
    differences: differences.sort((left, right) => Number(right.status === 'exact') - Number(left.status === 'exact')),
  }
  return { certificate, items: imported.items }
}
