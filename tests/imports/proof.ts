import { isDeepStrictEqual } from 'node:util'
import { convertersBySource, type ImportOptions, type ImportSource } from '@halyard/importers'
import { compileImported, evaluateHere, type ProofContext } from './halyard-evaluator.ts'
import { Random } from './random.ts'
import { randomContexts, randomDocument } from './random-documents.ts'
import type { VendorSdk } from './vendor-sdks.ts'

/** What a comparison with a service's own SDK has shown. */
export interface Certificate {
  readonly source: ImportSource
  readonly sdk: string
  readonly sdkVersion: string
  readonly seed: number
  readonly documents: number
  readonly contexts: number
  /** Pairs of a context and a flag with a value from both sides. */
  readonly pairs: number
  readonly equal: number
  /** Pairs for which the SDK reports an error instead of a value. */
  readonly sdkErrors: number
  /** How many flags were converted, by status, and why some were not. */
  readonly flags: Readonly<Record<'exact' | 'approximate' | 'refused', number>>
  readonly refusals: Readonly<Record<string, number>>
  /** At most 20. */
  readonly differences: readonly Difference[]
  /** Flags that claim to be exact. */
  readonly differing: number
  /** Flags that claim to be approximate, whose reasons name such differences. */
  readonly declared: number
}

export interface Difference {
  readonly flag: string
  readonly status: string
  readonly context: ProofContext
  readonly there: unknown
  readonly here: unknown
  /** The definition there, and the trace here. */
  readonly definition: unknown
  readonly trace: unknown
}

const differencesMax = 20
const contextsPerDocument = 200

export const proofOptions: ImportOptions = { flagdVersion: '0.15.0' }

/** Random documents and contexts from a seed, until enough pairs have been compared. */
export async function prove(source: ImportSource, sdk: VendorSdk, seed: number, pairs: number): Promise<Certificate> {
  const random = new Random(seed)
  const flags = { exact: 0, approximate: 0, refused: 0 }
  const refusals: Record<string, number> = {}
  const differences: Difference[] = []
  const counts = { documents: 0, contexts: 0, pairs: 0, equal: 0, sdkErrors: 0, differing: 0, declared: 0 }
  while (counts.pairs < pairs) {
    const { document, definitions } = randomDocument(source, random)
    const project = convertersBySource[source]!(document, proofOptions)
    const snapshot = compileImported(project)
    const evaluateThere = await sdk.load(document)
    const now = Date.now()
    counts.documents++
    const statusOf = new Map(project.items.map(item => [item.sourceId, item.status]))
    for (const { kind, status, reasons } of project.items) {
      if (kind !== 'flag') continue
      flags[status]++
      if (status === 'refused') refusals[reasons.at(-1)!.message] = (refusals[reasons.at(-1)!.message] ?? 0) + 1
    }
    const invalid = [...snapshot.issues.values()].flat()
    if (invalid.length > 0) throw new Error(`An imported flag is invalid: ${JSON.stringify(invalid[0])}`)
    for (const context of randomContexts(source, document, random, contextsPerDocument)) {
      counts.contexts++
      const here = evaluateHere(snapshot, context, now)
      for (const flag of project.flags) {
        const expected = await evaluateThere(context, flag.sourceId)
        if (expected === undefined) {
          counts.sdkErrors++
          continue
        }
        counts.pairs++
        const actual = here.get(flag.key)
        if (isDeepStrictEqual(actual, expected)) {
          counts.equal++
          continue
        }
        if (statusOf.get(flag.sourceId) === 'approximate') {
          counts.declared++
          continue
        }
        counts.differing++
        if (differences.length === differencesMax) continue
        differences.push({
          flag: flag.sourceId,
          status: statusOf.get(flag.sourceId)!,
          context,
          there: expected,
          here: actual,
          definition: definitions.get(flag.sourceId),
          trace: snapshot.explain(
            { distinctId: context.id, personProperties: context.attributes },
            { key: flag.key, now },
          ),
        })
      }
    }
  }
  return { source, sdk: sdk.packageName, sdkVersion: sdk.version, seed, ...counts, flags, refusals, differences }
}
