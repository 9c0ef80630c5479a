import type { CompiledFlag } from './compiler.ts'
import { conditionOutcome, EXCLUDED, matchedOutcome } from './outcome.ts'
import { EVERYBODY, NO_VARIANT, type Plan, type VariantSpan } from './plan.ts'
import { PERSON } from './run.ts'

/**
 * The flags of a project that ask for nothing out of the ordinary, which is nearly all flags, laid out as numbers one after another: to
 * decide them is to walk through a few kilobytes instead of through thousands of objects.
 */
export interface FlatFlags {
  /** The records of the flags. They may be moved to any place as a whole. */
  readonly words: Int32Array
  /** The positions of the flags that depend on no other and are not laid flat. */
  readonly apart: readonly number[]
  /** How many flags there are, and how many filters they may refer to. */
  readonly flagCount: number
  readonly filterCount: number
  /** One more than the highest bag of these flags. */
  readonly bagCount: number
}

/** A record of a flag, in bytes. It begins with what stands before the identifier in what is hashed, and ends with the words of that. */
export const record = {
  prefixOffset: 0,
  prefixLength: 4,
  /** Until the next one. */
  size: 8,
  position: 12,
  bag: 16,
  /** The answer about everybody, or `DEPENDS`. */
  answer: 20,
  earlyExit: 24,
  /** Where conditions begin and end, from the beginning of the record on. */
  conditions: 28,
  conditionsEnd: 32,
  variantCount: 36,
  /** The ends of the spans of variants, doubles. */
  spans: 40,
} as const

/** A condition within a record, in bytes. */
export const condition = {
  /** Until the next one. */
  size: 0,
  /** The answer when it has matched. */
  matched: 4,
  /** The answer when its rollout has left somebody out, or `DEPENDS` when other conditions have a say. */
  excluded: 8,
  /** Its first outcome. */
  base: 12,
  /** A double; less than 0 for nobody. */
  share: 16,
  /** The numbers of the filters. */
  filters: 24,
} as const

/** Flags about persons and about so many types of groups less one can be laid flat. */
export const bagsMax = 6

/** Instead of an answer. */
export const DEPENDS = -1

/** An answer about a flag is one of these, and with it a number. */
export const answerBits = 2
export const answerMask = 3
/** The number is the outcome. */
export const DECIDED = 0
/** The bucket of the rollout decides. The number is where the condition begins in the record that asks for it. */
export const ROLLOUT_AWAITED = 1
/** The bucket of the variant decides. The number is the first outcome of the condition that has matched. */
export const VARIANT_AWAITED = 2
/** This one is for `decideFlag`. */
export const UNDECIDED = 3

interface Order {
  /** Whether others depend on the flag. */
  isNeeded(position: number): boolean
  /** Whether it depends on others: it is decided after all those that do not. */
  isDependent(position: number): boolean
}

/** Of so many flags that they take more words, which nobody has, the last ones are not laid flat. */
export const recordWordsMax = 1_000_000

export function layFlat(flags: readonly CompiledFlag[], filterCount: number, order: Order): FlatFlags {
  const words: number[] = []
  const apart: number[] = []
  let bagCount = 1
  for (let position = 0; position < flags.length; position++) {
    const { plan } = flags[position]!
    if (plan === null || order.isDependent(position)) continue
    if (words.length > recordWordsMax || order.isNeeded(position) || !isOrdinary(plan)) {
      apart.push(position)
    } else {
      layPlan(plan, position, words)
      bagCount = Math.max(bagCount, plan.bag + 1)
    }
  }
  return { words: Int32Array.from(words), apart, flagCount: flags.length, filterCount, bagCount }
}

/** A variant without a key counts as none, which only `variantOf` knows, as it knows what to make of shares below 0. */
function isOrdinary(plan: Plan): boolean {
  if (plan.bag < 0 || plan.bag >= bagsMax || plan.holdout !== null || plan.byDevice || plan.continuity) return false
  if (plan.enrollmentKey !== null || plan.superCondition !== null) return false
  return plan.conditions.every(({ bag }) => bag === plan.bag) && plan.variants.every(isOrdinaryVariant)
}

const isOrdinaryVariant = ({ key, from, to }: VariantSpan): boolean => key !== '' && from <= to

function layPlan(plan: Plan, position: number, words: number[]): void {
  const { conditions, prefix, variants } = plan
  const start = words.length
  const from = record.spans + variants.length * 8
  const to = conditions.reduce((sum, { predicates }) => sum + condition.filters + predicates.length * 4, from)
  const size = to + prefix.words.length * 4
  words.push(to, prefix.length, size, position, plan.bag, answerAboutEverybody(plan, from))
  words.push(plan.earlyExit ? 1 : 0, from, to, variants.length)
  for (const variant of variants) layDouble(variant.to, words)
  layConditions(plan, start + to / 4, words)
  for (const word of prefix.words) words.push(word)
}

function layConditions({ conditions, variants, earlyExit }: Plan, end: number, words: number[]): void {
  for (const [index, { predicates, override, share }] of conditions.entries()) {
    const base = conditionOutcome(variants.length, index)
    const size = condition.filters + predicates.length * 4
    const isLast = earlyExit || words.length + size / 4 === end
    words.push(
      size,
      matched(base, override, variants.length),
      isLast ? answer(DECIDED, base + EXCLUDED) : DEPENDS,
      base,
    )
    layDouble(share > 0 ? share : NOBODYS_SHARE, words)
    for (const id of predicates) words.push(id)
  }
}

const NOBODYS_SHARE = -1
const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

function layDouble(value: number, words: number[]): void {
  double[0] = value
  words.push(halves[0]!, halves[1]!)
}

/** Many flags ask nothing of a person but a bucket. `first` is where their first condition begins. */
function answerAboutEverybody({ bag, conditions, variants }: Plan, first: number): number {
  const asked = conditions[0]
  if (bag !== PERSON || asked === undefined || asked.predicates.length > 0) return DEPENDS
  if (asked.share === EVERYBODY) return matched(conditionOutcome(variants.length, 0), asked.override, variants.length)
  return asked.share > 0 ? answer(ROLLOUT_AWAITED, first) : DEPENDS
}

const answer = (kind: number, value: number): number => (value << answerBits) | kind

function matched(base: number, override: number, variantCount: number): number {
  if (override === NO_VARIANT && variantCount > 0) return answer(VARIANT_AWAITED, base)
  return answer(DECIDED, base + matchedOutcome(override))
}
