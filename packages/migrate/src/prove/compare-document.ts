import { isDeepStrictEqual } from 'node:util'
import type { TargetRules } from '../convert/check-imported.ts'
import { type Conversion, convertFile } from '../convert/convert-file.ts'
import type { ImportedFlag, ImportedProject, ImportItem, ImportStatus } from '../model/model.ts'
import { compileImported, evaluateImported, type ProofContext, subjectOf } from './evaluate-imported.ts'
import { proofContexts } from './proof-contexts.ts'
import type { Random } from './random.ts'
import { sdkDocumentOf } from './sdk-documents.ts'
import type { VendorSdk } from './vendor-sdks.ts'

/** A person who gets different values from both sides, in the form of the certificate. */
export interface Difference {
  /** Key at the source. */
  readonly flag: string
  readonly status: ImportStatus
  readonly context: {
    id: string
    attributes: Record<string, unknown>
    groups: Record<string, unknown>
  }
  readonly there: unknown
  readonly here: unknown
  readonly there_trace: unknown
  readonly here_trace: unknown
}

export interface FlagTally {
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

export interface Proof extends Conversion {
  readonly rules: TargetRules
  readonly sdk: VendorSdk
  readonly random: Random
  /** Compares until one of them is reached. */
  readonly pairsMax: number
  readonly contextsMax: number
  /** Listed with both traces, of exact flags before others; further ones are only counted. */
  readonly differencesMax: number
  readonly onProgress?: (pairs: number) => void
}

const contextsPerStep = 500

/** Evaluates the document with the service's SDK and with Halyard, and adds what differs to the tally. */
export async function compareDocument(proof: Proof, tally: Tally): Promise<ImportedProject> {
  const { source, document, options, project: target, rules, sdk, random, pairsMax, contextsMax, onProgress } = proof
  const project = await convertFile(proof, rules)
  const snapshot = compileImported(project, rules.regex, target)
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
    if (!takesDifference(tally, status, proof.differencesMax)) return
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
function takesDifference({ differences }: Tally, status: ImportStatus, differencesMax: number): boolean {
  if (differences.length >= differencesMax) return false
  if (status === 'exact') return true
  return differences.filter(difference => difference.status !== 'exact').length < differencesMax / 2
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
