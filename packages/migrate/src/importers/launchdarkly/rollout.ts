import type { Bucketing } from '../../model/model.ts'
import { isRecord, type JsonRecord, listOf } from '../document.ts'
import type { Verdict } from '../verdict.ts'
import { attributeName, groupTypeOf } from './clauses.ts'

/** A rule or the fallthrough: one variation, or shares of a rollout in the order of the document. */
export type Served = { readonly variation: number } | { readonly rollout: Rollout }

export interface Rollout {
  readonly bucketing: Bucketing
  /** Undefined for users. */
  readonly groupType: string | undefined
  /** Of people with a bucket below `upTo`, and in no earlier share; null for all others. */
  readonly shares: readonly { readonly variation: number; readonly weight: number; readonly upTo: number | null }[]
}

export interface RolloutContext {
  readonly verdict: Verdict
  readonly key: string
  readonly salt: string
  readonly variations: number
}

export function readServed(value: unknown, path: string, context: RolloutContext): Served {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('Nothing is served here; add a variation or a rollout.', path)
  if (typeof value.variation === 'number') {
    return { variation: readVariation(value.variation, `${path}.variation`, context) }
  }
  if (!isRecord(value.rollout)) return verdict.refuse('Nothing is served here; add a variation or a rollout.', path)
  return { rollout: readRollout(value.rollout, `${path}.rollout`, context) }
}

function readRollout(rollout: JsonRecord, path: string, context: RolloutContext): Rollout {
  const { verdict, key, salt } = context
  const isExperiment = rollout.kind === 'experiment' || isRecord(rollout.experimentAllocation)
  if (isExperiment) {
    verdict.note('The split of the experiment is the same; record its events with your analytics.', path)
  }
  const parts = listOf(rollout.variations)
  if (parts.length === 0) return verdict.refuse('The rollout has no variations; add them.', `${path}.variations`)
  let sum = 0
  const shares = parts.map((part, index) => {
    const at = `${path}.variations[${index}]`
    if (!isRecord(part) || typeof part.weight !== 'number')
      return verdict.refuse('The share has no weight; add it.', at)
    // In the order of LaunchDarkly's additions, so that rounding is the same.
    sum += part.weight / 100_000
    const variation = readVariation(part.variation, `${at}.variation`, context)
    return { variation, weight: part.weight, upTo: index === parts.length - 1 ? null : percentageOf(sum) }
  })
  const { contextKind: kind, bucketBy } = rollout
  const by = isExperiment || !bucketBy ? 'key' : attributeName(bucketBy, kind, `${path}.bucketBy`, verdict)
  if (rollout.seed === 0) {
    verdict.differs(
      'The Node SDK ignores the seed 0, as this import does; other SDKs use it. Choose another seed first.',
      `${path}.seed`,
    )
  }
  const seed = typeof rollout.seed === 'number' && rollout.seed !== 0 ? String(rollout.seed) : `${key}.${salt}`
  return {
    bucketing: { algorithm: 'launchdarkly', seed, ...(by !== 'key' && { by }) },
    groupType: groupTypeOf(kind),
    shares,
  }
}

export function readVariation(value: unknown, path: string, { variations, verdict }: RolloutContext): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= variations) {
    return verdict.refuse(`There is no variation ${JSON.stringify(value)}; choose one of the flag's.`, path)
  }
  return value
}

/** The percentage whose hundredth part is this number, in spite of rounding. */
export function percentageOf(part: number): number {
  const near = part * 100
  const step = 2 ** (Math.floor(Math.log2(near)) - 52)
  return [0, 1, -1, 2, -2].map(steps => near + steps * step).find(percentage => percentage / 100 === part) ?? near
}
