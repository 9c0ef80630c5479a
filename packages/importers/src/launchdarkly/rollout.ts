import { isRecord, type JsonRecord, listOf } from '../document.ts'
import type { Bucketing } from '../model.ts'
import type { Verdict } from '../verdict.ts'
import { attributeName } from './clauses.ts'

/** A rule or the fallthrough: one variation, or shares of a rollout in the order of the document. */
export type Served = { readonly variation: number } | { readonly rollout: Rollout }

export interface Rollout {
  readonly bucketing: Bucketing
  /** Null for users. */
  readonly groupType: number | null
  /** Of people with a bucket below `upTo`, and in no earlier share; null for all others. */
  readonly shares: readonly { readonly variation: number; readonly upTo: number | null }[]
}

export interface RolloutContext {
  readonly verdict: Verdict
  readonly key: string
  readonly salt: string
  readonly variations: number
  readonly groupType: (kind: string) => number | undefined
}

export function readServed(value: unknown, path: string, context: RolloutContext): Served {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('A rule must serve a variation or a rollout.', path)
  if (typeof value.variation === 'number') {
    return { variation: readVariation(value.variation, `${path}.variation`, context) }
  }
  if (!isRecord(value.rollout)) return verdict.refuse('The rule serves neither a variation nor a rollout.', path)
  return { rollout: readRollout(value.rollout, `${path}.rollout`, context) }
}

function readRollout(rollout: JsonRecord, path: string, context: RolloutContext): Rollout {
  const { verdict, key, salt } = context
  const isExperiment = rollout.kind === 'experiment' || isRecord(rollout.experimentAllocation)
  if (isExperiment) {
    verdict.differs('The split of the experiment is kept; its events are not recorded.', path)
  }
  const parts = listOf(rollout.variations)
  if (parts.length === 0) return verdict.refuse('The rollout has no variations.', `${path}.variations`)
  let sum = 0
  const shares = parts.map((part, index) => {
    const at = `${path}.variations[${index}]`
    if (!isRecord(part) || typeof part.weight !== 'number') return verdict.refuse('The share has no weight.', at)
    // In the order of LaunchDarkly's additions, so that rounding is the same.
    sum += part.weight / 100_000
    const variation = readVariation(part.variation, `${at}.variation`, context)
    return { variation, upTo: index === parts.length - 1 ? null : percentageOf(sum) }
  })
  const by = isExperiment || !rollout.bucketBy ? 'key' : attributeName(rollout.bucketBy, `${path}.bucketBy`, verdict)
  if (by !== 'key') {
    verdict.differs(
      `Where "${by}" is neither text nor a whole number, LaunchDarkly serves the first variation; here it is hashed.`,
      `${path}.bucketBy`,
    )
  }
  if (rollout.seed === 0) {
    verdict.differs('The seed 0 is no seed for the Node SDK and for this import; other SDKs use it.', `${path}.seed`)
  }
  const seed = typeof rollout.seed === 'number' && rollout.seed !== 0 ? String(rollout.seed) : `${key}.${salt}`
  return {
    bucketing: { algorithm: 'launchdarkly', seed, ...(by !== 'key' && { by }) },
    groupType: readKind(rollout.contextKind, path, context),
    shares,
  }
}

function readKind(kind: unknown, path: string, { groupType, verdict }: RolloutContext): number | null {
  if (kind === undefined || kind === null || kind === '' || kind === 'user') return null
  const index = groupType(String(kind))
  if (index === undefined) {
    const message = `The context kind "${String(kind)}" needs a group type of the same name in the project.`
    return verdict.refuse(message, `${path}.contextKind`)
  }
  verdict.differs(
    'People without a group of this kind get the first variation in LaunchDarkly; here the next condition decides.',
    `${path}.contextKind`,
  )
  return index
}

export function readVariation(value: unknown, path: string, { variations, verdict }: RolloutContext): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= variations) {
    return verdict.refuse(`There is no variation ${JSON.stringify(value)}.`, path)
  }
  return value
}

/** The percentage whose hundredth part is this number, in spite of rounding. */
export function percentageOf(part: number): number {
  const near = part * 100
  const step = 2 ** (Math.floor(Math.log2(near)) - 52)
  return [0, 1, -1, 2, -2].map(steps => near + steps * step).find(percentage => percentage / 100 === part) ?? near
}
