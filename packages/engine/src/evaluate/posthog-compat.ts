import type { CompiledFlag } from '../compile/compiler.ts'
import { NO_ENTITY, type Plan, type PlannedCondition } from '../compile/plan.ts'
import { isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import { deviceIdOf } from './identifier.ts'
import { conditionOutcome, EXCLUDED, HOLDOUT, matchedOutcome, NO_GROUP } from './outcome.ts'
import { PERSON, type Run } from './run.ts'
import { FALSE, joinUncertainty, REGEX, REMOTE, type Ternary, TRUE, UNKNOWN, uncertaintyOf } from './ternary.ts'

/**
 * Emulates local evaluation in posthog-node, from the same definitions and properties. The SDK declines a flag that only
 * the server can evaluate.
 */
const DECLINED = -1
const DECLINED_FOR_SERVER = -2
const DECLINED_FOR_REGEX = -3

/** The uncertainty that a flag passes on to its dependents. */
export function posthogUncertainty(run: Run, flag: CompiledFlag): number {
  const outcome = flag.plan === null ? 0 : posthogOutcome(run, flag, flag.plan)
  if (outcome >= 0) return 0
  if (outcome === DECLINED_FOR_SERVER) return REMOTE
  return outcome === DECLINED_FOR_REGEX ? UNKNOWN | REGEX : UNKNOWN
}

/** The index of an outcome, or a negative number when the SDK declines. */
export function posthogOutcome(run: Run, flag: CompiledFlag, plan: Plan): number {
  if (isLeftToServer(run, plan) || plan.entity === NO_ENTITY) return DECLINED
  if (!run.has(plan.entity)) return NO_GROUP
  if (plan.byDevice && plan.entity === PERSON && deviceIdOf(run) === undefined) return DECLINED
  return isHeldOut(run, flag, plan) ? HOLDOUT : posthogConditions(run, flag, plan)
}

/**
 * SDKs support neither early access nor what only Halyard has. Such flags, and those that depend on the latter, are served
 * to them with experience continuity, which they decline.
 */
function isLeftToServer(run: Run, plan: Plan): boolean {
  return plan.continuity || plan.enrollmentKey !== null || plan.superCondition !== null || run.isLeftToServer
}

function posthogConditions(run: Run, flag: CompiledFlag, plan: Plan): number {
  let uncertainty = 0
  const deferred: (boolean | string)[] = []
  for (let index = 0; index < plan.conditions.length; index++) {
    const condition = plan.conditions[index]!
    if (!run.has(condition.entity)) continue
    const result = posthogResult(run, condition.predicates)
    if (result === FALSE) continue
    if (result === REMOTE) return DECLINED_FOR_SERVER
    const base = conditionOutcome(plan.variants.length, index)
    const inRollout = isInRollout(run, flag, plan, condition)
    if (result !== TRUE) {
      uncertainty |= result
      if (result & REGEX) deferred.push(deferredValue(run, flag, plan, condition, base, inRollout))
    } else if (inRollout) {
      const outcome = base + matchedOutcome(variantOf(run, flag, plan, condition))
      const { value } = flag.outcomes[outcome]!
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
function deferredValue(
  run: Run,
  flag: CompiledFlag,
  plan: Plan,
  condition: PlannedCondition,
  base: number,
  inRollout: boolean,
): boolean | string {
  if (plan.earlyExit && !inRollout) return false
  return flag.outcomes[base + matchedOutcome(variantOf(run, flag, plan, condition))]!.value
}

/** FALSE, TRUE, or the kind of uncertainty. A single certain FALSE decides. */
function posthogResult(run: Run, ids: readonly number[]): Ternary {
  let uncertainty = 0
  for (let index = 0; index < ids.length; index++) {
    const result = run.decide(ids[index]!)
    if (result === FALSE) return FALSE
    uncertainty = joinUncertainty(uncertainty, uncertaintyOf(result))
  }
  return uncertainty === 0 ? TRUE : uncertainty
}
