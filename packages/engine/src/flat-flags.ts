import type { Prefixes } from './buckets.ts'
import type { CompiledFlag } from './compiler.ts'
import { conditionOutcome, EXCLUDED, matchedOutcome, NO_GROUP, SKIPPED, UNMATCHED } from './outcome.ts'
import { EVERYBODY, NO_VARIANT, type Plan } from './plan.ts'
import { PERSON, type Run, UNKNOWN } from './run.ts'
import { FAILED, TRUE } from './truth.ts'

/**
 * The flags of a project that are about persons and ask for nothing out of the ordinary, which is nearly all flags, laid out as
 * numbers one after another: to decide them is to walk through a few kilobytes instead of through thousands of objects. `decideFlag`
 * gives the same outcomes; where there is a doubt or a failure, it alone decides.
 */
export interface FlatFlags extends Prefixes {
  /** By the position of the flag: where it begins in `steps`, or why it does not. */
  readonly starts: Int32Array
  /**
   * For each flag: how many variants, where their spans begin, whether it exits early, how many conditions; then for each condition: how many
   * predicates, which variant it forces, where its share is, and the predicates.
   */
  readonly steps: Int32Array
  /** The shares of conditions, and the ends of the spans of variants. */
  readonly numbers: Float64Array
}

const NOT_FLAT = -1
/** A flag that has but one outcome. */
const CONSTANT = -2

/** Instead of an outcome: a hash is being gathered. */
export const AWAITED = -1
/** Instead of an outcome: this one is for `decideFlag`. */
export const UNDECIDED = -2

/** `isApart` tells the flags that must not be decided here for other reasons than their plans. */
export function layFlat(flags: readonly CompiledFlag[], isApart: (position: number) => boolean): FlatFlags {
  const starts = new Int32Array(flags.length).fill(NOT_FLAT)
  const prefixStarts = new Int32Array(flags.length)
  const prefixLengths = new Int32Array(flags.length)
  const prefixes: number[] = []
  const steps: number[] = []
  const numbers: number[] = []
  for (let position = 0; position < flags.length; position++) {
    const { plan } = flags[position]!
    if (plan === null) starts[position] = CONSTANT
    if (plan === null || isApart(position) || !isOrdinary(plan)) continue
    starts[position] = steps.length
    prefixStarts[position] = prefixes.length
    prefixLengths[position] = plan.prefix.length
    prefixes.push(...plan.prefix.words)
    layPlan(plan, steps, numbers)
  }
  return {
    starts,
    prefixStarts,
    prefixLengths,
    prefixes: Int32Array.from(prefixes),
    steps: Int32Array.from(steps),
    numbers: Float64Array.from(numbers),
  }
}

function layPlan(plan: Plan, steps: number[], numbers: number[]): void {
  steps.push(plan.variants.length, numbers.length, plan.earlyExit ? 1 : 0, plan.conditions.length)
  for (const { to } of plan.variants) numbers.push(to)
  for (const { predicates, override, share } of plan.conditions) {
    steps.push(predicates.length, override, numbers.length, ...predicates)
    numbers.push(share)
  }
}

/** A variant without a key counts as none, which only `variantOf` knows. */
function isOrdinary(plan: Plan): boolean {
  if (plan.bag !== PERSON || plan.holdout !== null || plan.byDevice || plan.continuity) return false
  if (plan.enrollmentKey !== null || plan.superCondition !== null) return false
  return plan.conditions.every(({ bag }) => bag === PERSON) && plan.variants.every(({ key }) => key !== '')
}

/** The position of the flag's outcome, or `AWAITED`, or `UNDECIDED`. */
export function decideFlat(run: Run, flat: FlatFlags, position: number): number {
  const { steps, numbers } = flat
  let at = flat.starts[position]!
  if (at < 0) return at === CONSTANT ? 0 : UNDECIDED
  const variantCount = steps[at]!
  const earlyExit = steps[at + 2] === 1
  const conditionCount = steps[at + 3]!
  at += 4
  let best: number = NO_GROUP
  let bestRank: number = SKIPPED
  for (let condition = 0; condition < conditionCount; condition++) {
    const predicateCount = steps[at]!
    const end = at + 3 + predicateCount
    let rank: number = EXCLUDED
    for (let step = at + 3; step < end; step++) {
      const id = steps[step]!
      let truth = run.truths[id]!
      if (truth === UNKNOWN) truth = run.decide(id)
      if (truth === TRUE) continue
      if (truth >= FAILED || (truth & TRUE) === TRUE) return UNDECIDED
      rank = UNMATCHED
      break
    }
    const base = conditionOutcome(variantCount, condition)
    if (rank === EXCLUDED) {
      const share = numbers[steps[at + 2]!]!
      if (share === EVERYBODY) return matched(run, flat, position, base, at)
      if (share > 0) {
        const bucket = run.buckets.rolloutOrWait(position, flat, run.distinctId)
        if (bucket <= share) return matched(run, flat, position, base, at)
        if (Number.isNaN(bucket)) return AWAITED
      }
      if (earlyExit) return base + EXCLUDED
    }
    if (rank >= bestRank) {
      best = base + rank
      bestRank = rank
    }
    at = end
  }
  return best
}

/** The outcome of the condition at `at`, which somebody has matched. Spans of variants follow each other without a gap. */
function matched(run: Run, flat: FlatFlags, position: number, base: number, at: number): number {
  const { starts, steps, numbers } = flat
  const override = steps[at + 1]!
  const variantCount = steps[starts[position]!]!
  if (override !== NO_VARIANT || variantCount === 0) return base + matchedOutcome(override)
  const bucket = run.buckets.variantOrWait(position, flat, run.distinctId)
  if (Number.isNaN(bucket)) return AWAITED
  const spans = steps[starts[position]! + 1]!
  for (let variant = 0; variant < variantCount; variant++) {
    if (bucket < numbers[spans + variant]!) return base + matchedOutcome(variant)
  }
  return base + matchedOutcome(NO_VARIANT)
}
