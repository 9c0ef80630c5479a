import type { CompiledFlag } from './compiler.ts'
import { conditionOutcome, EXCLUDED, matchedOutcome, NO_GROUP, SKIPPED, UNMATCHED } from './outcome.ts'
import { EVERYBODY, NO_VARIANT, type Plan } from './plan.ts'
import { type Run, UNKNOWN } from './run.ts'
import { FAILED, TRUE } from './truth.ts'

/**
 * The flags of a project that ask for nothing out of the ordinary, which is nearly all flags, laid out as numbers one after another: to
 * decide them is to walk through a few kilobytes instead of through thousands of objects. `decideFlag` gives the same outcomes; where
 * there is a doubt or a failure, it alone decides.
 */
export interface FlatFlags {
  /** By the position of the flag: where it begins in `steps`, or why it does not. */
  readonly starts: Int32Array
  /**
   * For each flag: how many variants, where their spans begin, whether it exits early, how many conditions; then for each condition: how many
   * predicates, which variant it forces, where its share is, and the predicates.
   */
  readonly steps: Int32Array
  /** The shares of conditions, and the ends of the spans of variants. */
  readonly numbers: Float64Array
  /** Whose the flag is, by its position. */
  readonly bags: Uint8Array
  /** What stands before the identifier in what is hashed, packed; and by position, where that begins and how many bytes it has. */
  readonly prefixes: Int32Array
  readonly prefixStarts: Int32Array
  readonly prefixLengths: Int32Array
}

/** Flags about persons and about so many types of groups less one can be laid flat. */
export const bagsMax = 6

const NOT_FLAT = -1
/** A flag that has but one outcome. */
const CONSTANT = -2

/** Instead of an outcome: the bucket of the rollout decides. */
export const ROLLOUT_AWAITED = -1
/** Instead of an outcome: this one is for `decideFlag`. */
export const UNDECIDED = -2
/** This, less the first outcome of a condition that has matched: the bucket of the variant decides. */
export const VARIANT_AWAITED = -3

/** `isApart` tells the flags that must not be decided here for other reasons than their plans. */
export function layFlat(flags: readonly CompiledFlag[], isApart: (position: number) => boolean): FlatFlags {
  const starts = new Int32Array(flags.length).fill(NOT_FLAT)
  const bags = new Uint8Array(flags.length)
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
    bags[position] = plan.bag
    prefixStarts[position] = prefixes.length
    prefixLengths[position] = plan.prefix.length
    for (const word of plan.prefix.words) prefixes.push(word)
    layPlan(plan, steps, numbers)
  }
  return {
    starts,
    steps: Int32Array.from(steps),
    numbers: Float64Array.from(numbers),
    bags,
    prefixes: Int32Array.from(prefixes),
    prefixStarts,
    prefixLengths,
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
  if (plan.bag < 0 || plan.bag >= bagsMax || plan.holdout !== null || plan.byDevice || plan.continuity) return false
  if (plan.enrollmentKey !== null || plan.superCondition !== null) return false
  return plan.conditions.every(({ bag }) => bag === plan.bag) && plan.variants.every(({ key }) => key !== '')
}

/** The position of the flag's outcome, or why there is none yet. `bucket` is that of the rollout, NaN while it is not known. */
export function decideFlat(run: Run, flat: FlatFlags, position: number, bucket: number): number {
  const { steps, numbers } = flat
  const start = flat.starts[position]!
  if (start < 0) return start === CONSTANT ? 0 : UNDECIDED
  if (run.bags[flat.bags[position]!] === undefined) return NO_GROUP
  const variantCount = steps[start]!
  const earlyExit = steps[start + 2] === 1
  const conditionCount = steps[start + 3]!
  let at = start + 4
  let best: number = NO_GROUP
  let bestRank: number = SKIPPED
  for (let condition = 0; condition < conditionCount; condition++) {
    const end = at + 3 + steps[at]!
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
      if (share === EVERYBODY || (share > 0 && bucket <= share)) return matched(base, steps[at + 1]!, variantCount)
      if (share > 0 && Number.isNaN(bucket)) return ROLLOUT_AWAITED
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

function matched(base: number, override: number, variantCount: number): number {
  return override === NO_VARIANT && variantCount > 0 ? VARIANT_AWAITED - base : base + matchedOutcome(override)
}

/** The outcome of a condition that has matched, given its first outcome. Spans of variants follow each other without a gap. */
export function variantOutcome(flat: FlatFlags, position: number, base: number, bucket: number): number {
  const { starts, steps, numbers } = flat
  const start = starts[position]!
  const variantCount = steps[start]!
  const spans = steps[start + 1]!
  for (let variant = 0; variant < variantCount; variant++) {
    if (bucket < numbers[spans + variant]!) return base + matchedOutcome(variant)
  }
  return base + matchedOutcome(NO_VARIANT)
}
