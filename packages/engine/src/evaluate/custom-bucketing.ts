import type { CompiledFlag } from '../compile/compiler.ts'
import {
  type CustomBucketing,
  OUTSIDE,
  type Plan,
  type PlannedBucketing,
  type PlannedCondition,
  type PlannedSplit,
} from '../compile/plan.ts'
import { toText } from '../definition/json.ts'
import { identifierOf } from './identifier.ts'
import type { Run } from './run.ts'

/** Conditions with the bucketing of another service, or with a split of their own. */

/** A subject that no part of the split includes counts as outside of the rollout, so that the next condition applies. */
export function isInCustomRollout(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
  { percentage, rollout, split }: CustomBucketing,
): boolean {
  if (percentage !== null && rollout !== null) {
    const hash = hashOf(run, flag, plan, condition, rollout, 'rolloutHash')
    if (hash === undefined || !rollout.algorithm.includes(hash, percentage)) return false
  }
  return split === null || splitVariantOf(run, flag, plan, condition, split) !== OUTSIDE
}

export function splitVariantOf(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
  split: PlannedSplit,
): number {
  const { bucketing, ranges, variants, weights } = split
  const hash = hashOf(run, flag, plan, condition, bucketing, 'splitHash')
  if (hash === undefined) return OUTSIDE
  const chosen = ranges === null ? bucketing.algorithm.choose(hash, weights) : rangeAt(split, hash, ranges)
  return chosen === -1 ? OUTSIDE : variants[chosen]!
}

function rangeAt({ bucketing }: PlannedSplit, hash: number, ranges: NonNullable<PlannedSplit['ranges']>): number {
  const position = bucketing.algorithm.position(hash)
  return ranges.findIndex(([from, to]) => position >= from && position < to)
}

/** Undefined when the subject lacks the identifier and the algorithm excludes it then. */
export function hashOf(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
  bucketing: PlannedBucketing,
  kind: 'rolloutHash' | 'splitHash',
): number | undefined {
  const { algorithm, encoding, identifierPrefix, seed } = bucketing
  const identifier = hashIdentifierOf(run, flag, plan, condition, bucketing)
  if (identifier === undefined) return algorithm.withoutIdentifier === 'zero' ? 0 : undefined
  if (identifier === '' && algorithm.withoutIdentifier === 'excluded') return undefined
  return algorithm[kind]({ seed, identifier: identifierPrefix + identifier, encoding })
}

export function hashIdentifierOf(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  { entity }: PlannedCondition,
  { by }: PlannedBucketing,
): string | undefined {
  return by === null ? identifierOf(run, flag, plan, entity) : textOf(run.property(entity, by))
}

/** A property can be megabytes long and a project can hash it for every flag, so longer values do not identify. */
const identifierLengthMax = 1000

/** Short strings, booleans and finite numbers identify; other values do not. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length <= identifierLengthMax ? value : undefined
  return typeof value === 'boolean' || Number.isFinite(value) ? toText(value) : undefined
}
