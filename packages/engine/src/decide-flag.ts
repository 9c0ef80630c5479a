import { holdoutBucket, rolloutBucket, variantBucket } from './bucket.ts'
import type { CompiledFlag } from './compiler.ts'
import { own } from './json.ts'
import {
  conditionOutcome,
  ERROR,
  EXCLUDED,
  HOLDOUT,
  MATCHED,
  MATCHED_VARIANT,
  NO_GROUP,
  SKIPPED,
  SUPER_OFF,
  SUPER_ON,
  UNMATCHED,
} from './outcome.ts'
import { EVERYBODY, NO_BAG, NO_VARIANT, type Plan, type PlannedCondition } from './plan.ts'
import { decide } from './predicate.ts'
import { hasProperty, PERSON, type Predicate, type Run } from './run.ts'
import {
  doubtOf,
  FAILED,
  FAILED_AFTER_DOUBT,
  FALSE,
  hasFailed,
  isAffirmed,
  joinDoubts,
  REGEX,
  REMOTE,
  TRUE,
  type Truth,
  UNSURE,
} from './truth.ts'

/** Instead of an outcome, why a client library does not answer. */
const DECLINED = -1
const DECLINED_FOR_SERVER = -2
const DECLINED_FOR_REGEX = -3

/** The doubt that a flag leaves in those that depend on it. */
export function doubtAbout(run: Run, predicates: readonly Predicate[], flag: CompiledFlag): number {
  const outcome = flag.plan === null ? 0 : libraryOutcome(run, predicates, flag, flag.plan)
  if (outcome >= 0) return 0
  if (outcome === DECLINED_FOR_SERVER) return REMOTE
  return outcome === DECLINED_FOR_REGEX ? UNSURE | REGEX : UNSURE
}

/** The position of the flag's outcome for the subject of the run. */
export function decideFlag(run: Run, predicates: readonly Predicate[], flag: CompiledFlag): number {
  const { plan } = flag
  if (plan === null) return 0
  const early = decideEarlyAccess(run, predicates, flag, plan)
  if (early >= 0) return early
  if (!isPresent(run, plan.bag)) return NO_GROUP
  if (isHeldOut(run, flag, plan)) return HOLDOUT
  return decideConditions(run, predicates, flag, plan)
}

function isPresent(run: Run, bag: number): boolean {
  return bag !== NO_BAG && run.bags[bag] !== undefined
}

/** Somebody who chose to join or to leave a feature has decided. */
function decideEarlyAccess(run: Run, predicates: readonly Predicate[], flag: CompiledFlag, plan: Plan): number {
  if (plan.enrollmentKey !== null) {
    const enrolled = own(run.bags[PERSON]!, plan.enrollmentKey)
    if (enrolled !== undefined) return enrolled === true || enrolled === 'true' ? SUPER_ON : SUPER_OFF
  }
  if (plan.superCondition === null) return -1
  return decideSuperCondition(run, predicates, flag, plan, plan.superCondition)
}

/** The older form of early access speaks only to those who have one of its properties. */
function decideSuperCondition(
  run: Run,
  predicates: readonly Predicate[],
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
): number {
  const keys = plan.superKeys
  if (!isPresent(run, condition.bag)) return -1
  if (keys.length > 0 && !keys.some(key => hasProperty(run, condition.bag, key))) return -1
  const holds = isAffirmed(conjunction(run, predicates, condition.predicates))
  return holds && isInRollout(run, flag, plan, condition) ? SUPER_ON : SUPER_OFF
}

function isHeldOut(run: Run, flag: CompiledFlag, plan: Plan): boolean {
  if (plan.holdout === null) return false
  return plan.holdout >= 1 || holdoutBucket(identifierOf(run, flag, plan, plan.bag)) <= plan.holdout
}

function decideConditions(run: Run, predicates: readonly Predicate[], flag: CompiledFlag, plan: Plan): number {
  const { conditions } = plan
  let best = NO_GROUP
  let bestRank = SKIPPED
  for (let index = 0; index < conditions.length; index++) {
    const condition = conditions[index]!
    const base = conditionOutcome(plan.variants.length, index)
    const truth = isPresent(run, condition.bag) ? conjunction(run, predicates, condition.predicates) : undefined
    let rank = SKIPPED
    if (truth !== undefined) {
      if (hasFailed(truth)) return settle(run, predicates, flag, plan, ERROR, truth)
      rank = UNMATCHED
      if (isAffirmed(truth)) {
        if (isInRollout(run, flag, plan, condition)) {
          return settle(run, predicates, flag, plan, base + matched(run, flag, plan, condition), truth)
        }
        if (plan.earlyExit) return settle(run, predicates, flag, plan, base + EXCLUDED, truth)
        rank = EXCLUDED
      }
    }
    // Reasons for no match rank as their outcomes do within a condition; of equal ones the later is told.
    if (rank >= bestRank) {
      best = base + rank
      bestRank = rank
    }
  }
  return best
}

/** All filters must hold. The first doubt counts, since it decides how a client library goes on. */
function conjunction(run: Run, predicates: readonly Predicate[], ids: readonly number[]): Truth {
  let doubt = 0
  let failed = 0
  for (let index = 0; index < ids.length; index++) {
    const truth = decide(run, predicates, ids[index]!)
    if (truth === TRUE) continue
    if (hasFailed(truth)) {
      if (failed === 0) failed = doubt & UNSURE ? FAILED_AFTER_DOUBT : FAILED
    } else if (!isAffirmed(truth)) {
      return truth
    }
    doubt = joinDoubts(doubt, doubtOf(truth))
  }
  return failed === 0 ? TRUE | doubt : failed
}

function isInRollout(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): boolean {
  if (condition.share === EVERYBODY) return true
  return rolloutBucket(flag.key, identifierOf(run, flag, plan, condition.bag)) <= condition.share
}

/** The outcome within a condition that has matched. */
function matched(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  const variant = condition.override === NO_VARIANT ? hashedVariant(run, flag, plan, condition) : condition.override
  return variant === NO_VARIANT ? MATCHED : MATCHED_VARIANT + variant
}

function hashedVariant(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  if (plan.variants.length === 0) return NO_VARIANT
  const bucket = variantBucket(flag.key, identifierOf(run, flag, plan, condition.bag))
  const variant = plan.variants.findIndex(span => bucket >= span.from && bucket < span.to)
  return variant === -1 || plan.variants[variant]!.key === '' ? NO_VARIANT : variant
}

/** What is hashed together with the flag's key. */
export function identifierOf(run: Run, flag: CompiledFlag, plan: Plan, bag: number): string {
  if (bag !== PERSON) return String(run.groupKeys[bag])
  const { subject } = run
  if (plan.byDevice) {
    const deviceId = deviceIdOf(run)
    if (deviceId !== undefined) return deviceId
  }
  if (!plan.continuity) return subject.distinctId
  const stored = subject.hashKeyOverrides === undefined ? undefined : own(subject.hashKeyOverrides, flag.key)
  return typeof stored === 'string' ? stored : (subject.anonDistinctId ?? subject.distinctId)
}

function deviceIdOf({ subject, bags }: Run): string | undefined {
  const deviceId = subject.deviceId || own(bags[PERSON]!, '$device_id')
  return typeof deviceId === 'number' || (typeof deviceId === 'string' && deviceId !== '')
    ? String(deviceId)
    : undefined
}

/**
 * A client library passes over a condition that it has a doubt about, and may answer by a later one. Where that gives
 * another value we give it too, so that nobody sees two answers.
 */
function settle(
  run: Run,
  predicates: readonly Predicate[],
  flag: CompiledFlag,
  plan: Plan,
  outcome: number,
  truth: Truth,
): number {
  if (!(truth & UNSURE) && truth !== FAILED_AFTER_DOUBT) return outcome
  const local = libraryOutcome(run, predicates, flag, plan)
  if (local < 0) return outcome
  const differs = flag.outcomes[local]!.value !== flag.outcomes[outcome]!.value
  return differs || hasFailed(truth) ? local : outcome
}

/** What posthog-node would answer in its own process, or that it declines. */
function libraryOutcome(run: Run, predicates: readonly Predicate[], flag: CompiledFlag, plan: Plan): number {
  if (plan.continuity || plan.bag === NO_BAG) return DECLINED
  if (!isPresent(run, plan.bag)) return NO_GROUP
  if (plan.byDevice && plan.bag === PERSON && deviceIdOf(run) === undefined) return DECLINED
  if (isHeldOut(run, flag, plan)) return HOLDOUT
  let doubt = 0
  const deferred: (boolean | string)[] = []
  for (let index = 0; index < plan.conditions.length; index++) {
    const condition = plan.conditions[index]!
    if (!isPresent(run, condition.bag)) continue
    const truth = libraryTruth(run, predicates, condition.predicates)
    if (truth === FALSE) continue
    if (truth === REMOTE) return DECLINED_FOR_SERVER
    const base = conditionOutcome(plan.variants.length, index)
    const inRollout = isInRollout(run, flag, plan, condition)
    if (truth !== TRUE) {
      doubt |= truth
      if (truth & REGEX) deferred.push(deferredValue(run, flag, plan, condition, base, inRollout))
    } else if (inRollout) {
      const outcome = base + matched(run, flag, plan, condition)
      const { value } = flag.outcomes[outcome]!
      return deferred.every(other => other === value) ? outcome : declined(doubt)
    } else if (plan.earlyExit) {
      return doubt === 0 ? base + EXCLUDED : declined(doubt)
    }
  }
  return doubt === 0 ? NO_GROUP : declined(doubt)
}

function declined(doubt: number): number {
  return doubt & REGEX ? DECLINED_FOR_REGEX : DECLINED
}

/** What a condition would give whose regular expression only the server can run. */
function deferredValue(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
  base: number,
  inRollout: boolean,
): boolean | string {
  if (plan.earlyExit && !inRollout) return false
  return flag.outcomes[base + matched(run, flag, plan, condition)]!.value
}

/** FALSE, TRUE, or the kind of doubt. One certain no is enough, wherever it stands. */
function libraryTruth(run: Run, predicates: readonly Predicate[], ids: readonly number[]): Truth {
  let doubt = 0
  for (let index = 0; index < ids.length; index++) {
    const truth = decide(run, predicates, ids[index]!)
    if (truth === FALSE) return FALSE
    doubt = joinDoubts(doubt, doubtOf(truth))
  }
  return doubt === 0 ? TRUE : doubt
}
