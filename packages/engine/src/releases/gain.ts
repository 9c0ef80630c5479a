import type { ParsedProperty } from '../definition/parse-property.ts'
import { type ServedCondition, type ServedFlag, servedToNoOne } from './served-flag.ts'
import { newShare, offForEveryone, shareOf, type TargetValues, type ValueShares } from './value-shares.ts'

/** Shares of people from 0 to 1, at most, for the audience that is affected most. */
export interface Gain {
  /** Those who get one of the values and did not get any of them before. */
  readonly gain: number
  /** Those who get one of the values, in an audience in which someone gains. */
  readonly reach: number
}

/** How many more and fewer people a filter matches than before, because what it refers to has changed. */
export interface Movement {
  readonly gain: number
  readonly loss: number
}
/** By the id of the filter. */
export type Movements = ReadonlyMap<string, Movement>

const nothing: Gain = { gain: 0, reach: 0 }
const everyone: Gain = { gain: 1, reach: 1 }

/** Comparisons of two versions of a flag, for one set of values; above that, everyone in the conditions counts as a gain. */
const comparisonsMax = 5_000_000

/**
 * Compares two versions of a flag. The gain is an upper bound, found by going through the evaluation of both: for each condition that gives
 * the value now and each position of the rollout, the least that the same people can have had before. Filters are compared, not
 * interpreted: a person who matches other filters than before may not have had the flag.
 */
export class FlagComparison {
  readonly #before: ServedFlag
  readonly #after: ServedFlag
  readonly #base: ServedFlag
  readonly #movements: Movements
  /** By the places of a condition now and one before: who matches the first certainly matched the second. */
  readonly #implied: readonly (readonly boolean[])[]
  /** By the places of a condition now and one before: who does not match the first certainly did not match the second. */
  readonly #excluded: readonly (readonly boolean[])[]
  readonly #isTooLarge: boolean

  constructor(before: ServedFlag, after: ServedFlag, movements: Movements) {
    this.#before = before
    this.#after = after
    this.#movements = movements
    this.#base = comparable(before, after) ? before : servedToNoOne
    const [old, next] = [this.#base.conditions, after.conditions]
    const shares = new Set([...old, ...next].map(({ share }) => share))
    this.#isTooLarge = shares.size * next.length * (old.length + 1) * next.length > comparisonsMax
    const gains = (id: string) => (movements.get(id)?.gain ?? 0) > 0
    const loses = (id: string) => (movements.get(id)?.loss ?? 0) > 0
    this.#implied = this.#isTooLarge ? [] : next.map(now => old.map(one => matchesToo(now, one, gains)))
    this.#excluded = this.#isTooLarge ? [] : next.map(now => old.map(one => matchesToo(one, now, loses)))
  }

  gain(isTarget: TargetValues): Gain {
    // People who are enrolled have the flag without any condition.
    if (this.#after.enrollment && !(this.#before.enrollment && this.#isSameKey) && isTarget(true)) return everyone
    const bySuper = this.#superGain(isTarget)
    const byConditions = this.#conditionsGain(isTarget)
    const byHoldout = holdoutGain(this.#base, this.#after, isTarget)
    // Nothing else applies to people for which the super condition decides.
    const gain = Math.max(bySuper.gain, byConditions.gain + byHoldout.gain)
    return {
      gain: Math.min(gain, 1),
      reach: Math.min(Math.max(bySuper.reach, byConditions.reach, byHoldout.reach), 1),
    }
  }

  get #isSameKey(): boolean {
    return this.#before.key === this.#after.key
  }

  #superGain(isTarget: TargetValues): Gain {
    const { superCondition } = this.#after
    if (superCondition === null || !isTarget(true)) return nothing
    const had = this.#before.superCondition
    const isMoved = [...superCondition.filters.keys()].some(id => (this.#movements.get(id)?.gain ?? 0) > 0)
    const isSame = had !== null && this.#isSameKey && isSameCondition(had, superCondition) && !isMoved
    const gain = Math.max(superCondition.share - (isSame ? had.share : 0), 0)
    return gain === 0 ? nothing : { gain, reach: superCondition.share }
  }

  #conditionsGain(isTarget: TargetValues): Gain {
    const { conditions } = this.#after
    if (this.#isTooLarge) {
      const reach = reachOf(conditions, isTarget)
      return { gain: reach, reach }
    }
    const isAlways = conditions.every(({ outcome }) => shareOf(outcome, isTarget) === 1)
    let gain = 0
    let reach = 0
    for (const [hash, group] of byHash(conditions)) {
      let reachHere = 0
      const marks = ends([...group, ...this.#base.conditions.filter(one => one.hash === hash)])
      gain += integral(marks, to =>
        most(group, condition => {
          if (condition.share < to) return 0
          const share = this.#shareGained(condition, to, isTarget)
          // Who has the flag by another condition does not gain, so that the condition alone counts.
          if (share > 0) {
            reachHere = Math.max(reachHere, isAlways ? condition.share : reachWith(group, condition, to, isTarget))
          }
          return share
        }),
      )
      if (reachHere === 0) continue
      // Other hashes include other people of the same audience.
      const others = conditions.filter(one => one.hash !== hash)
      reach = Math.max(reach, reachHere + reachOf(others, isTarget))
    }
    return { gain, reach }
  }

  /** Among people for which this condition decides, at a position up to `to`: the share that gets the value and may not have had it. */
  #shareGained(condition: ServedCondition, to: number, isTarget: TargetValues): number {
    if (shareOf(condition.outcome, isTarget) === 0) return 0
    return most(this.#earlierOutcomes(condition, to), outcome => newShare(outcome, condition.outcome, isTarget))
  }

  /** What the people of a condition can have had before. */
  #earlierOutcomes(now: ServedCondition, to: number): readonly ValueShares[] {
    const { conditions, earlyExit } = this.#base
    const place = this.#after.conditions.indexOf(now)
    const passed = this.#passedBy(now, place, to)
    const outcomes: ValueShares[] = []
    for (const [index, one] of conditions.entries()) {
      const isMatched = this.#implied[place]![index]!
      if (passed.some(other => this.#excluded[other]![index])) {
        // Everyone in this condition matches an earlier one, which decides.
        if (isMatched) return []
        continue
      }
      const included = this.#isRejected(one, index, place) ? 'never' : inclusion(one, now, to)
      if (included !== 'never') outcomes.push(one.outcome)
      if (included !== 'always' && earlyExit) outcomes.push(offForEveryone)
      if (isMatched && included === 'never' && earlyExit) return outcomes
      if (isMatched && included === 'always')
        return one.isUncertain ? [...outcomes, ...this.#laterOutcomes(index, place)] : outcomes
    }
    return [...outcomes, offForEveryone]
  }

  /** What SDKs can have found after a condition that they declined, unless they find the same now. */
  #laterOutcomes(decided: number, place: number): readonly ValueShares[] {
    const later = this.#after.conditions.slice(place + 1)
    return this.#base.conditions.slice(decided + 1).flatMap((one, index) => {
      const isFoundNow = later.some(
        (other, behind) =>
          this.#excluded[place + 1 + behind]![decided + 1 + index] &&
          other.hash === one.hash &&
          other.share >= one.share &&
          JSON.stringify(other.outcome) === JSON.stringify(one.outcome) &&
          this.#isStillReached({ from: place, to: place + 1 + behind }, { from: decided, to: decided + 1 + index }),
      )
      return isFoundNow ? [] : [one.outcome]
    })
  }

  /** Between two conditions, nothing ends the evaluation now that did not end it before. */
  #isStillReached(now: Between, before: Between): boolean {
    if (!this.#after.earlyExit) return true
    return placesIn(now).every(place => {
      const exit = this.#after.conditions[place]!
      return placesIn(before).some(index => {
        const { hash, share } = this.#base.conditions[index]!
        const isWider = this.#implied[place]![index]! && hash === exit.hash && share <= exit.share
        return isWider && this.#base.earlyExit
      })
    })
  }

  /** An earlier condition of now includes everyone that this one included, and did not decide. */
  #isRejected({ hash, share }: ServedCondition, index: number, place: number): boolean {
    return this.#after.conditions
      .slice(0, place)
      .some((other, earlier) => this.#excluded[earlier]![index] && other.hash === hash && other.share >= share)
  }

  /** The places of conditions that certainly do not match: otherwise they had decided before this one. */
  #passedBy(now: ServedCondition, place: number, to: number): readonly number[] {
    const { conditions, earlyExit } = this.#after
    const passed: number[] = []
    for (let index = 0; index < place; index++) {
      const { isFull, hash, share } = conditions[index]!
      if (earlyExit || isFull || hash === null || (hash === now.hash && share >= to)) passed.push(index)
    }
    return passed
  }
}

/** The places of two conditions; those between them count. */
interface Between {
  readonly from: number
  readonly to: number
}

const placesIn = ({ from, to }: Between): readonly number[] =>
  Array.from({ length: to - from - 1 }, (_, index) => from + 1 + index)

/** Whether people for which conditions decide now are among those for which they decided before. */
const comparable = (before: ServedFlag, after: ServedFlag): boolean =>
  before.key === after.key &&
  before.enrollment === after.enrollment &&
  (before.evaluability === after.evaluability || !(isOrdered(before) || isOrdered(after))) &&
  (before.superCondition === null || isSameCondition(before.superCondition, after.superCondition))

/** It matters which condition decides, not only that one does. */
const isOrdered = ({ conditions, earlyExit }: ServedFlag): boolean =>
  conditions.length > 1 && (earlyExit || new Set(conditions.map(({ outcome }) => JSON.stringify(outcome))).size > 1)

const isSameCondition = (one: ServedCondition, other: ServedCondition | null): other is ServedCondition =>
  other !== null &&
  one.hash === other.hash &&
  one.filters.size === other.filters.size &&
  [...one.filters.keys()].every(id => other.filters.has(id))

/** People who are held out get the value of the holdout; those who no longer are get what the conditions say. */
function holdoutGain(before: ServedFlag, after: ServedFlag, isTarget: TargetValues): Gain {
  const [old, next] = [before.holdout, after.holdout]
  const isSameHash = old !== null && next !== null && old.hash === next.hash
  const shareBefore = (old?.percentage ?? 0) / 100
  const shareAfter = (next?.percentage ?? 0) / 100
  const wasTarget = old !== null && isTarget(old.variant)
  const isNowTarget = next !== null && isTarget(next.variant)
  const held = !isNowTarget ? 0 : isSameHash && wasTarget ? Math.max(shareAfter - shareBefore, 0) : shareAfter
  const freed = wasTarget ? 0 : isSameHash ? Math.max(shareBefore - shareAfter, 0) : shareBefore
  const reach = freed === 0 ? 0 : reachOf(after.conditions, isTarget)
  const gain = held + freed * reach
  return gain === 0 ? nothing : { gain, reach: Math.max(held === 0 ? 0 : shareAfter, reach) }
}

/** The share of people that can get one of the values by the conditions. */
function reachOf(conditions: readonly ServedCondition[], isTarget: TargetValues): number {
  let sum = 0
  for (const group of byHash(conditions).values()) {
    sum += integral(ends(group), to => most(group, one => (one.share >= to ? shareOf(one.outcome, isTarget) : 0)))
  }
  return Math.min(sum, 1)
}

function inclusion(before: ServedCondition, now: ServedCondition, to: number): 'always' | 'never' | 'sometimes' {
  if (before.isFull || before.hash === null) return 'always'
  if (before.share === 0) return 'never'
  if (before.hash !== now.hash) return 'sometimes'
  return before.share >= to ? 'always' : 'never'
}

/** Whether who matches `one` certainly matches `other`, whose filters that `isMoved` names cannot be relied on. */
function matchesToo(one: ServedCondition, other: ServedCondition, isMoved: (id: string) => boolean): boolean {
  for (const [id, filter] of other.filters) {
    if (isMoved(id)) return false
    if (one.filters.has(id)) continue
    if (![...one.filters.values()].some(narrower => isNarrower(narrower, filter))) return false
  }
  return true
}

/** A list of texts that was shortened. What else makes a filter narrower is not analyzed. */
function isNarrower(one: ParsedProperty, other: ParsedProperty): boolean {
  if (one.kind !== 'value' || other.kind !== 'value') return false
  const wanted = new Set(textsOf(other))
  const texts = textsOf(one)
  return (
    texts.length > 0 &&
    texts.every(text => wanted.has(text)) &&
    JSON.stringify({ ...one, value: 0, path: '' }) === JSON.stringify({ ...other, value: 0, path: '' })
  )
}

/** Of the operator `exact`; none when an item can be read as a truth value, which compares differently. */
function textsOf(filter: ParsedProperty): readonly string[] {
  if (filter.kind !== 'value' || filter.operator !== 'exact') return []
  const items: readonly unknown[] = Array.isArray(filter.value) ? filter.value : [filter.value]
  return items.every(item => typeof item === 'string' && !/^(true|false)$/i.test(item)) ? (items as string[]) : []
}

/** The reach in an audience in which a condition decides at the position `to`. */
function reachWith(
  group: readonly ServedCondition[],
  condition: ServedCondition,
  to: number,
  isTarget: TargetValues,
): number {
  const place = group.indexOf(condition)
  // What SDKs cannot evaluate decides only where no other condition does, so it can match without deciding here.
  const earlier = group.slice(0, place).filter(one => one.share < to || one.isUncertain)
  const later = group.slice(place + 1)
  const shareAt = (at: number) => (one: ServedCondition) => (one.share >= at ? shareOf(one.outcome, isTarget) : 0)
  return integral(ends(group), at =>
    most(at <= condition.share ? [...earlier, condition] : [...earlier, ...later], shareAt(at)),
  )
}

function byHash(conditions: readonly ServedCondition[]): Map<string | null, ServedCondition[]> {
  const groups = new Map<string | null, ServedCondition[]>()
  for (const condition of conditions) {
    const group = groups.get(condition.hash) ?? []
    group.push(condition)
    groups.set(condition.hash, group)
  }
  return groups
}

/** The positions of the rollout between which nothing changes, without 0. */
const ends = (conditions: readonly ServedCondition[]): readonly number[] =>
  [...new Set([...conditions.map(({ share }) => share), 1])].filter(share => share > 0).sort((a, b) => a - b)

/** Of a function that is constant between the ends. */
function integral(marks: readonly number[], valueUpTo: (end: number) => number): number {
  let sum = 0
  let from = 0
  for (const to of marks) {
    sum += (to - from) * valueUpTo(to)
    from = to
  }
  return sum
}

function most<T>(items: readonly T[], shareAt: (item: T) => number): number {
  let largest = 0
  for (const item of items) largest = Math.max(largest, shareAt(item))
  return largest
}
