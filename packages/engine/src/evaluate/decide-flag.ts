import type { CompiledFlag } from '../compile/compiler.ts'
import type { Plan, PlannedCondition } from '../compile/plan.ts'
import { own } from '../definition/json.ts'
import { isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import {
  conditionOutcome,
  ERROR,
  EXCLUDED,
  HOLDOUT,
  matchedOutcome,
  NO_GROUP,
  SKIPPED,
  SUPER_OFF,
  SUPER_ON,
  UNMATCHED,
} from './outcome.ts'
import { isPresent, libraryOutcome } from './posthog-compat.ts'
import { PERSON, type Run } from './run.ts'
import {
  doubtOf,
  FAILED,
  FAILED_AFTER_DOUBT,
  hasFailed,
  isAffirmed,
  joinDoubts,
  TRUE,
  type Truth,
  UNSURE,
} from './ternary.ts'

/** The position of the flag's outcome for the subject of the run. */
export function decideFlag(run: Run, flag: CompiledFlag): number {
  const { plan } = flag
  if (plan === null) return 0
  if (plan.enrollmentKey !== null || plan.superCondition !== null) {
    const early = decideEarlyAccess(run, flag, plan)
    if (early >= 0) return early
  }
  if (!isPresent(run, plan.bag)) return NO_GROUP
  return isHeldOut(run, flag, plan) ? HOLDOUT : decideConditions(run, flag, plan)
}

/** Somebody who chose to join or to leave a feature has decided. */
function decideEarlyAccess(run: Run, flag: CompiledFlag, plan: Plan): number {
  if (plan.enrollmentKey !== null) {
    const enrolled = own(run.bags[PERSON]!, plan.enrollmentKey)
    if (enrolled !== undefined) return enrolled === true || enrolled === 'true' ? SUPER_ON : SUPER_OFF
  }
  return plan.superCondition === null ? -1 : decideSuperCondition(run, flag, plan, plan.superCondition)
}

/** The older form of early access speaks only to those who have one of its properties. */
function decideSuperCondition(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  const keys = plan.superKeys
  if (!isPresent(run, condition.bag)) return -1
  if (keys.length > 0 && !keys.some(key => run.hasProperty(condition.bag, key))) return -1
  const holds = isAffirmed(conjunction(run, condition.predicates))
  return holds && isInRollout(run, flag, plan, condition) ? SUPER_ON : SUPER_OFF
}

function decideConditions(run: Run, flag: CompiledFlag, plan: Plan): number {
  const { conditions } = plan
  let best = NO_GROUP
  let bestRank = SKIPPED
  for (let index = 0; index < conditions.length; index++) {
    const condition = conditions[index]!
    const base = conditionOutcome(plan.variants.length, index)
    let rank = SKIPPED
    if (isPresent(run, condition.bag)) {
      const truth = conjunction(run, condition.predicates)
      if (hasFailed(truth)) return settle(run, flag, plan, ERROR, truth)
      rank = UNMATCHED
      if (isAffirmed(truth)) {
        if (isInRollout(run, flag, plan, condition)) {
          return settle(run, flag, plan, base + matchedOutcome(variantOf(run, flag, plan, condition)), truth)
        }
        if (plan.earlyExit) return settle(run, flag, plan, base + EXCLUDED, truth)
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
function conjunction(run: Run, ids: readonly number[]): Truth {
  let doubt = 0
  let failed = 0
  for (let index = 0; index < ids.length; index++) {
    const truth = run.decide(ids[index]!)
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

/**
 * A client library passes over a condition that it has a doubt about, and may answer by a later one. Where that gives
 * another value we give it too, so that nobody sees two answers.
 */
function settle(run: Run, flag: CompiledFlag, plan: Plan, outcome: number, truth: Truth): number {
  if (!(truth & UNSURE) && truth !== FAILED_AFTER_DOUBT) return outcome
  const local = libraryOutcome(run, flag, plan)
  if (local < 0) return outcome
  const differs = flag.outcomes[local]!.value !== flag.outcomes[outcome]!.value
  return differs || hasFailed(truth) ? local : outcome
}
