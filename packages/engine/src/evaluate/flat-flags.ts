import type { CompiledFlag } from '../compile/compiler.ts'
import { EVERYBODY, NO_VARIANT, type Plan, type VariantSpan } from '../compile/plan.ts'
import { conditionOutcome, EXCLUDED, matchedOutcome } from './outcome.ts'
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
  const laid: number[] = []
  const apart: number[] = []
  let wordCount = 0
  let bagCount = 1
  for (let position = 0; position < flags.length; position++) {
    const { plan } = flags[position]!
    if (plan === null || order.isDependent(position)) continue
    if (wordCount > recordWordsMax || order.isNeeded(position) || !isOrdinary(plan)) {
      apart.push(position)
    } else {
      laid.push(position)
      wordCount += (conditionsEnd(plan) >> 2) + plan.prefix.words.length
      if (plan.bag >= bagCount) bagCount = plan.bag + 1
    }
  }
  const words = new Int32Array(wordCount)
  let at = 0
  for (const position of laid) at = layPlan(flags[position]!.plan!, position, words, at)
  return { words, apart, flagCount: flags.length, filterCount, bagCount }
}

/** A variant without a key counts as none, which only `variantOf` knows, as it knows what to make of shares below 0. */
function isOrdinary(plan: Plan): boolean {
  if (plan.bag < 0 || plan.bag >= bagsMax || plan.holdout !== null || plan.byDevice || plan.continuity) return false
  if (plan.enrollmentKey !== null || plan.superCondition !== null) return false
  return plan.conditions.every(({ bag }) => bag === plan.bag) && plan.variants.every(isOrdinaryVariant)
}

const isOrdinaryVariant = ({ key, from, to }: VariantSpan): boolean => key !== '' && from <= to

const conditionsStart = ({ variants }: Plan): number => record.spans + variants.length * 8

/** In bytes from the beginning of the record on. */
function conditionsEnd(plan: Plan): number {
  let end = conditionsStart(plan)
  for (const { predicates } of plan.conditions) end += condition.filters + predicates.length * 4
  return end
}

/** Lays down a record from a word on, and gives the word after it. */
function layPlan(plan: Plan, position: number, words: Int32Array, start: number): number {
  const { prefix, variants } = plan
  const from = conditionsStart(plan)
  const to = conditionsEnd(plan)
  const put = (field: number, value: number): void => {
    words[start + (field >> 2)] = value
  }
  put(record.prefixOffset, to)
  put(record.prefixLength, prefix.length)
  put(record.size, to + prefix.words.length * 4)
  put(record.position, position)
  put(record.bag, plan.bag)
  put(record.answer, answerAboutEverybody(plan, from))
  put(record.earlyExit, plan.earlyExit ? 1 : 0)
  put(record.conditions, from)
  put(record.conditionsEnd, to)
  put(record.variantCount, variants.length)
  let at = start + (record.spans >> 2)
  for (const variant of variants) at = layDouble(variant.to, words, at)
  layConditions(plan, words, at)
  at = start + (to >> 2)
  for (let index = 0; index < prefix.words.length; index++) words[at++] = prefix.words[index]!
  return at
}

function layConditions({ conditions, variants, earlyExit }: Plan, words: Int32Array, start: number): void {
  let at = start
  for (let index = 0; index < conditions.length; index++) {
    const { predicates, override, share } = conditions[index]!
    const base = conditionOutcome(variants.length, index)
    const isLast = earlyExit || index === conditions.length - 1
    words[at++] = condition.filters + predicates.length * 4
    words[at++] = matched(base, override, variants.length)
    words[at++] = isLast ? answer(DECIDED, base + EXCLUDED) : DEPENDS
    words[at++] = base
    at = layDouble(share > 0 ? share : NOBODYS_SHARE, words, at)
    for (let place = 0; place < predicates.length; place++) words[at++] = predicates[place]!
  }
}

const NOBODYS_SHARE = -1
const double = new Float64Array(1)
const halves = new Int32Array(double.buffer)

function layDouble(value: number, words: Int32Array, at: number): number {
  double[0] = value
  words[at] = halves[0]!
  words[at + 1] = halves[1]!
  return at + 2
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
