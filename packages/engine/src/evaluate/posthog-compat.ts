import type { CompiledFlag } from '../compile/compiler.ts'
import { NO_BAG, type Plan, type PlannedCondition } from '../compile/plan.ts'
import { deviceIdOf, isHeldOut, isInRollout, variantOf } from './bucketing.ts'
import { conditionOutcome, EXCLUDED, HOLDOUT, matchedOutcome, NO_GROUP } from './outcome.ts'
import { PERSON, type Run } from './run.ts'
import { doubtOf, FALSE, joinDoubts, REGEX, REMOTE, TRUE, type Truth, UNSURE } from './ternary.ts'

/**
 * What posthog-node answers in its own process, from the same definitions and with what the caller knows. It declines
 * a flag where the server must be asked.
 */
const DECLINED = -1
const DECLINED_FOR_SERVER = -2
const DECLINED_FOR_REGEX = -3

/** The doubt that a flag leaves in those that depend on it. */
export function doubtAbout(run: Run, flag: CompiledFlag): number {
  const outcome = flag.plan === null ? 0 : libraryOutcome(run, flag, flag.plan)
  if (outcome >= 0) return 0
  if (outcome === DECLINED_FOR_SERVER) return REMOTE
  return outcome === DECLINED_FOR_REGEX ? UNSURE | REGEX : UNSURE
}

export function isPresent(run: Run, bag: number): boolean {
  return bag !== NO_BAG && run.bags[bag] !== undefined
}

/** The position of an outcome, or a negative number when the library declines. */
export function libraryOutcome(run: Run, flag: CompiledFlag, plan: Plan): number {
  if (isLeftToServer(plan) || plan.bag === NO_BAG) return DECLINED
  if (!isPresent(run, plan.bag)) return NO_GROUP
  if (plan.byDevice && plan.bag === PERSON && deviceIdOf(run) === undefined) return DECLINED
  return isHeldOut(run, flag, plan) ? HOLDOUT : libraryConditions(run, flag, plan)
}

/** Early access is unknown to the libraries, so such flags are served to them as if they had continuity. */
function isLeftToServer(plan: Plan): boolean {
  return plan.continuity || plan.enrollmentKey !== null || plan.superCondition !== null
}

function libraryConditions(run: Run, flag: CompiledFlag, plan: Plan): number {
  let doubt = 0
  const deferred: (boolean | string)[] = []
  for (let index = 0; index < plan.conditions.length; index++) {
    const condition = plan.conditions[index]!
    if (!isPresent(run, condition.bag)) continue
    const truth = libraryTruth(run, condition.predicates)
    if (truth === FALSE) continue
    if (truth === REMOTE) return DECLINED_FOR_SERVER
    const base = conditionOutcome(plan.variants.length, index)
    const inRollout = isInRollout(run, flag, plan, condition)
    if (truth !== TRUE) {
      doubt |= truth
      if (truth & REGEX) deferred.push(deferredValue(run, flag, plan, condition, base, inRollout))
    } else if (inRollout) {
      const outcome = base + matchedOutcome(variantOf(run, flag, plan, condition))
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
  return flag.outcomes[base + matchedOutcome(variantOf(run, flag, plan, condition))]!.value
}

/** FALSE, TRUE, or the kind of doubt. One certain no is enough, wherever it stands. */
function libraryTruth(run: Run, ids: readonly number[]): Truth {
  let doubt = 0
  for (let index = 0; index < ids.length; index++) {
    const truth = run.decide(ids[index]!)
    if (truth === FALSE) return FALSE
    doubt = joinDoubts(doubt, doubtOf(truth))
  }
  return doubt === 0 ? TRUE : doubt
}
