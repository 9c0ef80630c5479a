import type { CompiledFlag } from '../compile/compiler.ts'
import type { Plan, PlannedCondition } from '../compile/plan.ts'
import { own } from '../definition/json.ts'
import { isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import {
  conditionStride,
  ERROR,
  EXCLUDED,
  firstCondition,
  HOLDOUT,
  matchedOutcome,
  NO_GROUP,
  SKIPPED,
  SUPER_OFF,
  SUPER_ON,
  UNMATCHED,
} from './outcome.ts'
import { posthogOutcome } from './posthog-compat.ts'
import { PERSON, type Run } from './run.ts'
import {
  FAILED,
  FAILED_AFTER_UNKNOWN,
  hasFailed,
  isTrue,
  joinUncertainty,
  type Ternary,
  TRUE,
  UNKNOWN,
  uncertaintyOf,
} from './ternary.ts'

/** The index of the flag's outcome for the subject of the run. This is the only place that decides. */
export function decideFlag(run: Run, flag: CompiledFlag): number {
  const { plan } = flag
  if (plan === null) return 0
  if (plan.isSpecial) return decideSpecial(run, flag, plan)
  return run.has(plan.entity) ? decideConditions(run, flag, plan) : NO_GROUP
}

/** Early access and holdouts come before the conditions. */
function decideSpecial(run: Run, flag: CompiledFlag, plan: Plan): number {
  const early = decideEarlyAccess(run, flag, plan)
  if (early >= 0) return early
  if (!run.has(plan.entity)) return NO_GROUP
  return isHeldOut(run, flag, plan) ? HOLDOUT : decideConditions(run, flag, plan)
}

/** A person who joined or left a feature takes precedence over everything else. */
function decideEarlyAccess(run: Run, flag: CompiledFlag, plan: Plan): number {
  if (plan.enrollmentKey !== null) {
    const enrolled = own(run.entityProperties[PERSON]!, plan.enrollmentKey)
    if (enrolled !== undefined) return enrolled === true || enrolled === 'true' ? SUPER_ON : SUPER_OFF
  }
  return plan.superCondition === null ? -1 : decideSuperCondition(run, flag, plan, plan.superCondition)
}

/** The older form of early access applies only to persons with one of its properties. */
function decideSuperCondition(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  const keys = plan.superKeys
  if (!run.has(condition.entity)) return -1
  if (keys.length > 0 && !keys.some(key => run.hasProperty(condition.entity, key))) return -1
  const holds = isTrue(conjunction(run, condition.predicates))
  return holds && isInRollout(run, flag, plan, condition) ? SUPER_ON : SUPER_OFF
}

function decideConditions(run: Run, flag: CompiledFlag, plan: Plan): number {
  const { conditions } = plan
  const stride = conditionStride(plan.variants.length)
  let base = firstCondition
  let best = NO_GROUP
  let bestRank = SKIPPED
  for (let index = 0; index < conditions.length; index++, base += stride) {
    const condition = conditions[index]!
    let rank = SKIPPED
    if (condition.entity === plan.entity || run.has(condition.entity)) {
      const result = condition.predicates.length === 0 ? TRUE : conjunction(run, condition.predicates)
      if (hasFailed(result)) return settle(run, flag, plan, ERROR, result)
      rank = UNMATCHED
      if (isTrue(result)) {
        if (isInRollout(run, flag, plan, condition)) {
          return settle(run, flag, plan, base + matchedOutcome(variantOf(run, flag, plan, condition)), result)
        }
        if (plan.earlyExit) return settle(run, flag, plan, base + EXCLUDED, result)
        rank = EXCLUDED
      }
    }
    // Reasons rank as their outcomes do within a condition; of equal ranks the later condition is reported.
    if (rank >= bestRank) {
      best = base + rank
      bestRank = rank
    }
  }
  return best
}

/** AND over filters. The first uncertainty counts, since it decides how a PostHog SDK continues. */
function conjunction(run: Run, ids: readonly number[]): Ternary {
  let uncertainty = 0
  let failed = 0
  for (let index = 0; index < ids.length; index++) {
    const result = run.decide(ids[index]!)
    if (result === TRUE) continue
    if (hasFailed(result)) {
      if (failed === 0) failed = uncertainty & UNKNOWN ? FAILED_AFTER_UNKNOWN : FAILED
    } else if (!isTrue(result)) {
      return result
    }
    uncertainty = joinUncertainty(uncertainty, uncertaintyOf(result))
  }
  return failed === 0 ? TRUE | uncertainty : failed
}

/**
 * A PostHog SDK skips a condition that it cannot evaluate and may match a later one. Where that yields another value,
 * the engine returns it as well: local and remote evaluation must agree.
 */
function settle(run: Run, flag: CompiledFlag, plan: Plan, outcome: number, result: Ternary): number {
  if (!(result & UNKNOWN) && result !== FAILED_AFTER_UNKNOWN) return outcome
  const local = posthogOutcome(run, flag, plan)
  if (local < 0) return outcome
  const differs = flag.outcomes[local]!.value !== flag.outcomes[outcome]!.value
  return differs || hasFailed(result) ? local : outcome
}
