import { NO_CONDITION } from '../compile/condition-table.ts'
import type { Plan } from '../compile/plan.ts'
import { isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import { deviceIdOf } from './identifier.ts'
import { EXCLUDED, firstCondition, HOLDOUT, matchedOutcome, NO_GROUP } from './outcome.ts'
import { NO_ENTITY, PERSON, type Run } from './run.ts'
import { FALSE, joinUncertainty, REGEX, REMOTE, type Ternary, TRUE, UNKNOWN, uncertaintyOf } from './ternary.ts'

/**
 * Emulates local evaluation in posthog-node, from the same definitions and properties. The SDK declines a flag that only
 * the server can evaluate.
 */
const DECLINED = -1
const DECLINED_FOR_SERVER = -2
const DECLINED_FOR_REGEX = -3

/** The uncertainty that a flag passes on to its dependents. */
export function posthogUncertainty(run: Run, plan: Plan | null): number {
  const outcome = plan === null ? 0 : posthogOutcome(run, plan)
  if (outcome >= 0) return 0
  if (outcome === DECLINED_FOR_SERVER) return REMOTE
  return outcome === DECLINED_FOR_REGEX ? UNKNOWN | REGEX : UNKNOWN
}

/** The index of an outcome, or a negative number when the SDK declines. */
export function posthogOutcome(run: Run, plan: Plan): number {
  if (isLeftToServer(run, plan) || plan.entity === NO_ENTITY) return DECLINED
  if (!run.has(plan.entity)) return NO_GROUP
  if (plan.byDevice && plan.entity === PERSON && deviceIdOf(run) === undefined) return DECLINED
  return isHeldOut(run, plan) ? HOLDOUT : posthogConditions(run, plan)
}

/**
 * SDKs support neither early access nor what only Halyard has. Such flags, and those that depend on the latter, are served
 * to them with experience continuity, which they decline.
 */
function isLeftToServer(run: Run, plan: Plan): boolean {
  return plan.continuity || plan.enrollmentKey !== null || plan.superCondition !== NO_CONDITION || run.isLeftToServer
}

function posthogConditions(run: Run, plan: Plan): number {
  let uncertainty = 0
  const deferred: (boolean | string)[] = []
  let base = firstCondition - plan.outcomeStride
  for (let row = plan.conditionsStart; row < plan.conditionsEnd; row++) {
    base += plan.outcomeStride
    if (!run.has(run.conditions.entities[row]!)) continue
    const result = posthogResult(run, row)
    if (result === FALSE) continue
    if (result === REMOTE) return DECLINED_FOR_SERVER
    const inRollout = isInRollout(run, plan, row)
    if (result !== TRUE) {
      uncertainty |= result
      if (result & REGEX) deferred.push(deferredValue(run, plan, row, base, inRollout))
    } else if (inRollout) {
      const outcome = base + matchedOutcome(variantOf(run, plan, row))
      const { value } = plan.outcomes[outcome]!
      return deferred.every(other => other === value) ? outcome : declined(uncertainty)
    } else if (plan.earlyExit) {
      return uncertainty === 0 ? base + EXCLUDED : declined(uncertainty)
    }
  }
  return uncertainty === 0 ? NO_GROUP : declined(uncertainty)
}

function declined(uncertainty: number): number {
  return uncertainty & REGEX ? DECLINED_FOR_REGEX : DECLINED
}

/** The value of a condition whose regular expression only the server can run. */
function deferredValue(run: Run, plan: Plan, row: number, base: number, inRollout: boolean): boolean | string {
  if (plan.earlyExit && !inRollout) return false
  return plan.outcomes[base + matchedOutcome(variantOf(run, plan, row))]!.value
}

/** FALSE, TRUE, or the kind of uncertainty. A single certain FALSE decides. */
function posthogResult(run: Run, row: number): Ternary {
  const { predicates, predicateStarts } = run.conditions
  const end = predicateStarts[row + 1]!
  let uncertainty = 0
  for (let index = predicateStarts[row]!; index < end; index++) {
    const result = run.decide(predicates[index]!)
    if (result === FALSE) return FALSE
    uncertainty = joinUncertainty(uncertainty, uncertaintyOf(result))
  }
  return uncertainty === 0 ? TRUE : uncertainty
}
