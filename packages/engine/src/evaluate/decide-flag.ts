import { NO_CONDITION } from '../compile/condition-table.ts'
import type { Plan } from '../compile/plan.ts'
import { own } from '../definition/json.ts'
import { isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import {
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
  FALSE,
  hasFailed,
  isTrue,
  joinUncertainty,
  type Ternary,
  TRUE,
  UNKNOWN,
  uncertaintyOf,
} from './ternary.ts'

/** The index of the flag's outcome for the subject of the run. This is the only place that decides. */
export function decideFlag(run: Run, plan: Plan | null): number {
  if (plan === null) return 0
  if (plan.isSpecial) return decideSpecial(run, plan)
  return run.has(plan.entity) ? decideConditions(run, plan) : NO_GROUP
}

/** Early access and holdouts come before the conditions. */
function decideSpecial(run: Run, plan: Plan): number {
  const early = decideEarlyAccess(run, plan)
  if (early >= 0) return early
  if (!run.has(plan.entity)) return NO_GROUP
  return isHeldOut(run, plan) ? HOLDOUT : decideConditions(run, plan)
}

/** A person who joined or left a feature takes precedence over everything else. */
function decideEarlyAccess(run: Run, plan: Plan): number {
  if (plan.enrollmentKey !== null) {
    const enrolled = own(run.entityProperties[PERSON]!, plan.enrollmentKey)
    if (enrolled !== undefined) return enrolled === true || enrolled === 'true' ? SUPER_ON : SUPER_OFF
  }
  return plan.superCondition === NO_CONDITION ? -1 : decideSuperCondition(run, plan, plan.superCondition)
}

/** The older form of early access applies only to persons with one of its properties. */
function decideSuperCondition(run: Run, plan: Plan, row: number): number {
  const keys = plan.superKeys
  const entity = run.conditions.entities[row]!
  if (!run.has(entity)) return -1
  if (keys.length > 0 && !keys.some(key => run.hasProperty(entity, key))) return -1
  const holds = isTrue(conjunction(run, row))
  return holds && isInRollout(run, plan, row) ? SUPER_ON : SUPER_OFF
}

function decideConditions(run: Run, plan: Plan): number {
  const { entities, predicates, predicateStarts } = run.conditions
  const { conditionsEnd, entity, outcomeStride } = plan
  let base = firstCondition
  let best = NO_GROUP
  let bestRank = SKIPPED
  for (let row = plan.conditionsStart; row < conditionsEnd; row++, base += outcomeStride) {
    let rank = SKIPPED
    if (entities[row] === entity || run.has(entities[row]!)) {
      // AND over filters.
      let result = TRUE
      const end = predicateStarts[row + 1]!
      for (let index = predicateStarts[row]!; index < end; index++) {
        result = run.decide(predicates[index]!)
        if (result !== TRUE) break
      }
      if (result === TRUE) {
        if (isInRollout(run, plan, row)) return base + matchedOutcome(variantOf(run, plan, row))
        if (plan.earlyExit) return base + EXCLUDED
        rank = EXCLUDED
      } else if (result === FALSE) {
        rank = UNMATCHED
      } else {
        const decided = decideUncertain(run, plan, row, base)
        if (decided >= 0) return decided
        rank = -decided
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

/** Decides a condition with a filter that failed or that PostHog SDKs decline. Returns the outcome or, negated, the rank. */
function decideUncertain(run: Run, plan: Plan, row: number, base: number): number {
  const result = conjunction(run, row)
  if (hasFailed(result)) return settle(run, plan, ERROR, result)
  if (!isTrue(result)) return -UNMATCHED
  if (isInRollout(run, plan, row)) {
    return settle(run, plan, base + matchedOutcome(variantOf(run, plan, row)), result)
  }
  return plan.earlyExit ? settle(run, plan, base + EXCLUDED, result) : -EXCLUDED
}

/** AND over filters. The first uncertainty counts, since it decides how a PostHog SDK continues. */
function conjunction(run: Run, row: number): Ternary {
  const { predicates, predicateStarts } = run.conditions
  const end = predicateStarts[row + 1]!
  let uncertainty = 0
  let failed = 0
  for (let index = predicateStarts[row]!; index < end; index++) {
    const result = run.decide(predicates[index]!)
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
function settle(run: Run, plan: Plan, outcome: number, result: Ternary): number {
  if (!(result & UNKNOWN) && result !== FAILED_AFTER_UNKNOWN) return outcome
  const local = posthogOutcome(run, plan)
  if (local < 0) return outcome
  const differs = plan.outcomes[local]!.value !== plan.outcomes[outcome]!.value
  return differs || hasFailed(result) ? local : outcome
}
