import type { CompiledFlag } from './compiler.ts'
import { conditionOutcome, EXCLUDED, matchedOutcome, NO_GROUP, SKIPPED, UNMATCHED } from './outcome.ts'
import { EVERYBODY, NO_VARIANT, type Plan } from './plan.ts'
import { PERSON, type Run, UNKNOWN } from './run.ts'
import { beginningWords } from './sha1-lanes.ts'
import { FAILED, TRUE } from './truth.ts'

/**
 * The flags of a project that ask for nothing out of the ordinary, which is nearly all flags, laid out as numbers one after another: to
 * decide them is to walk through a few kilobytes instead of through thousands of objects. `decideFlag` gives the same outcomes; where
 * there is a doubt or a failure, it alone decides.
 */
export interface FlatFlags {
  /** By the position of the flag: the answer about everybody, or `DEPENDS`. */
  readonly answers: Int32Array
  /** By the position of the flag: where it begins in `steps`. */
  readonly starts: Int32Array
  /**
   * For each flag: how many variants, where their spans begin, whether it exits early, where the flag ends; then for each condition: where
   * it ends, the answer when it has matched, the answer when its rollout has left somebody out or `DEPENDS` when other conditions have a say,
   * its first outcome, and the predicates.
   */
  readonly steps: Int32Array
  /** The share of the condition that begins at this step. */
  readonly shares: Float64Array
  /** The ends of the spans of variants. */
  readonly spans: Float64Array
  /** Whose the flag is, by its position. */
  readonly bags: Uint8Array
  /** What stands before the identifier in what is hashed: a table of beginnings by position, and after it their words. */
  readonly beginnings: Int32Array
}

/** Flags about persons and about so many types of groups less one can be laid flat. */
export const bagsMax = 6
/** Of so many flags, which nobody has, the last ones are not laid flat. */
export const beginningsWordsMax = 1_000_000

const headSteps = 4
const conditionSteps = 4

/** Instead of an answer. */
export const DEPENDS = -1

/** An answer about a flag is one of these, and with it a number. */
export const answerBits = 2
export const answerMask = 3
/** The number is the outcome. */
export const DECIDED = 0
/** The bucket of the rollout decides. The number is where to go on. */
export const ROLLOUT_AWAITED = 1
/** The bucket of the variant decides. The number is the first outcome of the condition that has matched. */
export const VARIANT_AWAITED = 2
/** This one is for `decideFlag`. */
export const UNDECIDED = 3

/** `isApart` tells the flags that must not be decided here for other reasons than their plans. */
export function layFlat(flags: readonly CompiledFlag[], isApart: (position: number) => boolean): FlatFlags {
  const answers = new Int32Array(flags.length).fill(UNDECIDED)
  const starts = new Int32Array(flags.length)
  const bags = new Uint8Array(flags.length)
  const beginnings: number[] = Array.from({ length: flags.length * beginningWords }, () => 0)
  const steps: number[] = []
  const shares: number[] = []
  const spans: number[] = []
  for (let position = 0; position < flags.length; position++) {
    const { plan } = flags[position]!
    if (plan === null) answers[position] = DECIDED
    if (plan === null || isApart(position) || !isOrdinary(plan)) continue
    if (beginnings.length + plan.prefix.words.length > beginningsWordsMax) continue
    starts[position] = steps.length
    bags[position] = plan.bag
    beginnings[position * beginningWords] = beginnings.length * 4
    beginnings[position * beginningWords + 1] = plan.prefix.length
    for (const word of plan.prefix.words) beginnings.push(word)
    answers[position] = answerAboutEverybody(plan, steps.length)
    layPlan(plan, steps, shares, spans)
  }
  return {
    answers,
    starts,
    steps: Int32Array.from(steps),
    shares: sharesBySteps(shares, steps.length),
    spans: Float64Array.from(spans),
    bags,
    beginnings: Int32Array.from(beginnings),
  }
}

/** Many flags ask nothing of a person but a bucket. */
function answerAboutEverybody({ bag, conditions, variants }: Plan, start: number): number {
  const first = conditions[0]
  if (bag !== PERSON || first === undefined || first.predicates.length > 0) return DEPENDS
  if (first.share === EVERYBODY) return matched(conditionOutcome(variants.length, 0), first.override, variants.length)
  return first.share > 0 ? answer(ROLLOUT_AWAITED, start + headSteps) : DEPENDS
}

function layPlan(plan: Plan, steps: number[], shares: number[], spans: number[]): void {
  const { variants, conditions } = plan
  const size = conditions.reduce((sum, { predicates }) => sum + conditionSteps + predicates.length, headSteps)
  const flagEnd = steps.length + size
  steps.push(variants.length, spans.length, plan.earlyExit ? 1 : 0, flagEnd)
  for (const { to } of variants) spans.push(to)
  for (const [index, { predicates, override, share }] of conditions.entries()) {
    const base = conditionOutcome(variants.length, index)
    const end = steps.length + conditionSteps + predicates.length
    const isLast = end === flagEnd || plan.earlyExit
    shares[steps.length] = share
    steps.push(end, matched(base, override, variants.length), isLast ? answer(DECIDED, base + EXCLUDED) : DEPENDS)
    steps.push(base, ...predicates)
  }
}

/** Most steps are not the first of a condition. */
function sharesBySteps(shares: readonly number[], stepCount: number): Float64Array {
  const bySteps = new Float64Array(stepCount)
  shares.forEach((share, step) => {
    bySteps[step] = share
  })
  return bySteps
}

/** A variant without a key counts as none, which only `variantOf` knows. */
function isOrdinary(plan: Plan): boolean {
  if (plan.bag < 0 || plan.bag >= bagsMax || plan.holdout !== null || plan.byDevice || plan.continuity) return false
  if (plan.enrollmentKey !== null || plan.superCondition !== null) return false
  return plan.conditions.every(({ bag }) => bag === plan.bag) && plan.variants.every(({ key }) => key !== '')
}

/** What stands before the identifier in what is hashed: where its words begin, and how many bytes it has. */
export const beginningStart = ({ beginnings }: FlatFlags, position: number): number =>
  beginnings[position * beginningWords]! >> 2

export const beginningLength = ({ beginnings }: FlatFlags, position: number): number =>
  beginnings[position * beginningWords + 1]!

/** The answer about a flag whose answer depends on the subject's properties. */
export function decideByProperties(run: Run, flat: FlatFlags, position: number): number {
  if (run.bags[flat.bags[position]!] === undefined) return answer(DECIDED, NO_GROUP)
  const start = flat.starts[position]!
  return walk(run, flat, start, start + headSteps, Number.NaN, NO_GROUP, SKIPPED)
}

/** The answer when the bucket of the rollout is there, which the condition at `at` has asked for. */
export function decideRollout(run: Run, flat: FlatFlags, position: number, at: number, bucket: number): number {
  const { shares, steps } = flat
  if (bucket <= shares[at]!) return steps[at + 1]!
  const excluded = steps[at + 2]!
  if (excluded !== DEPENDS) return excluded
  return walk(run, flat, flat.starts[position]!, steps[at]!, bucket, steps[at + 3]! + EXCLUDED, EXCLUDED)
}

/**
 * Goes through the conditions of a flag from the one at `from` on. `bucket` is that of the rollout, NaN while it is not known; what
 * there is to tell of the conditions before is `best`.
 */
function walk(
  run: Run,
  flat: FlatFlags,
  start: number,
  from: number,
  bucket: number,
  best: number,
  bestRank: number,
): number {
  const { steps, shares } = flat
  const { truths } = run
  const end = steps[start + 3]!
  let told = best
  let toldRank = bestRank
  for (let at = from; at < end; at = steps[at]!) {
    const next = steps[at]!
    let rank: number = EXCLUDED
    for (let step = at + conditionSteps; step < next; step++) {
      const id = steps[step]!
      let truth = truths[id]!
      if (truth === UNKNOWN) truth = run.decide(id)
      if (truth === TRUE) continue
      if (truth >= FAILED || (truth & TRUE) === TRUE) return UNDECIDED
      rank = UNMATCHED
      break
    }
    const base = steps[at + 3]!
    if (rank === EXCLUDED) {
      const share = shares[at]!
      if (share === EVERYBODY || (share > 0 && bucket <= share)) return steps[at + 1]!
      if (share > 0 && Number.isNaN(bucket)) return answer(ROLLOUT_AWAITED, at)
      if (steps[start + 2] === 1) return answer(DECIDED, base + EXCLUDED)
    }
    if (rank >= toldRank) {
      told = base + rank
      toldRank = rank
    }
  }
  return answer(DECIDED, told)
}

const answer = (kind: number, value: number): number => (value << answerBits) | kind

function matched(base: number, override: number, variantCount: number): number {
  if (override === NO_VARIANT && variantCount > 0) return answer(VARIANT_AWAITED, base)
  return answer(DECIDED, base + matchedOutcome(override))
}

/** The outcome of a condition that has matched, given its first outcome. Spans of variants follow each other without a gap. */
export function variantOutcome(flat: FlatFlags, position: number, base: number, bucket: number): number {
  const { starts, steps, spans } = flat
  const start = starts[position]!
  const variantCount = steps[start]!
  const first = steps[start + 1]!
  for (let variant = 0; variant < variantCount; variant++) {
    if (bucket < spans[first + variant]!) return base + matchedOutcome(variant)
  }
  return base + matchedOutcome(NO_VARIANT)
}
