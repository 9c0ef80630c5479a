import type { CustomBucketing, PlannedBucketing, PlannedSplit } from '../compile/condition-table.ts'
import { OUTSIDE, type Plan } from '../compile/plan.ts'
import { toText } from '../definition/json.ts'
import { identifierOf } from './identifier.ts'
import type { Run } from './run.ts'

/** Conditions with the bucketing of another service, or with a split of their own. */

/** A subject that no part of the split includes counts as outside of the rollout, so that the next condition applies. */
export function isInCustomRollout(
  run: Run,
  plan: Plan,
  entity: number,
  { percentage, rollout, split }: CustomBucketing,
): boolean {
  if (percentage !== null && rollout !== null) {
    const hash = hashOf(run, plan, entity, rollout, 'rolloutHash')
    if (hash === undefined || !rollout.algorithm.includes(hash, percentage)) return false
  }
  return split === null || splitVariantOf(run, plan, entity, split) !== OUTSIDE
}

export function splitVariantOf(run: Run, plan: Plan, entity: number, split: PlannedSplit): number {
  const { bucketing, ranges, variants, weights } = split
  const hash = hashOf(run, plan, entity, bucketing, 'splitHash')
  if (hash === undefined) return OUTSIDE
  const chosen = ranges === null ? bucketing.algorithm.choose(hash, weights) : rangeAt(split, hash, ranges)
  return chosen === -1 ? OUTSIDE : variants[chosen]!
}

function rangeAt({ bucketing }: PlannedSplit, hash: number, ranges: NonNullable<PlannedSplit['ranges']>): number {
  const position = bucketing.algorithm.position(hash)
  // A position can be 1, which no range would include otherwise.
  return ranges.findIndex(([from, to]) => position >= from && (position < to || to === 1))
}

/** Undefined when the subject lacks the identifier and the algorithm excludes it then. */
export function hashOf(
  run: Run,
  plan: Plan,
  entity: number,
  bucketing: PlannedBucketing,
  kind: 'rolloutHash' | 'splitHash',
): number | undefined {
  const { algorithm, encoding, identifierPrefix, seed } = bucketing
  const identifier = hashIdentifierOf(run, plan, entity, bucketing)
  if (identifier === undefined) return algorithm.withoutIdentifier === 'zero' ? 0 : undefined
  if (identifier === '' && algorithm.withoutIdentifier === 'excluded') return undefined
  return algorithm[kind]({ seed, identifier: identifierPrefix + identifier, encoding })
}

export function hashIdentifierOf(
  run: Run,
  plan: Plan,
  entity: number,
  { by, algorithm }: PlannedBucketing,
): string | undefined {
  if (by === null) return identifierOf(run, plan, entity)
  const value = run.property(entity, by)
  return algorithm.identifies(value) ? textOf(value) : undefined
}

/** A property can be megabytes long and a project can hash it for every flag, so longer values do not identify. */
const identifierLengthMax = 1000

/** Short strings, booleans and finite numbers identify; other values do not. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length <= identifierLengthMax ? value : undefined
  return typeof value === 'boolean' || Number.isFinite(value) ? toText(value) : undefined
}
