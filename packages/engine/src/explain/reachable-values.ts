import { NO_CONDITION, type PlannedCondition } from '../compile/condition-table.ts'
import { FULL_ROLLOUT, type Plan } from '../compile/plan.ts'
import type { Project } from '../compile/project.ts'
import { HOLDOUT, NO_VARIANT, OFF_VARIANT } from '../evaluate/outcome.ts'
import { PERSON } from '../evaluate/run.ts'

export type FlagValue = boolean | string

/**
 * By position: the values that each flag can have for any subject with an identifier. A superset: what a filter on
 * properties says about another is not analyzed. One value alone is thus a proof that the flag is constant.
 */
export function reachableValues(project: Project): readonly ReadonlySet<FlagValue>[] {
  const { flags, flagOrder } = project
  const valuesByPosition: ReadonlySet<FlagValue>[] = flags.map(() => noValues)
  for (let place = 0; place < flags.length; place++) {
    const position = flagOrder.order === undefined ? place : flagOrder.order[place]!
    valuesByPosition[position] = valuesOf(project, position, valuesByPosition)
  }
  return valuesByPosition
}

const noValues: ReadonlySet<FlagValue> = new Set()

function valuesOf(
  project: Project,
  position: number,
  valuesByPosition: readonly ReadonlySet<FlagValue>[],
): Set<FlagValue> {
  const { plan, outcomes } = project.flags[position]!
  if (plan === null) return new Set([outcomes[0]!.value])
  if (project.flagOrder.broken.has(position)) return new Set([false])
  const values = new Set<FlagValue>()
  if (plan.enrollmentKey !== null || plan.superCondition !== NO_CONDITION) values.add(true).add(false)
  // A subject without such a group.
  if (plan.entity !== PERSON) values.add(false)
  if (plan.holdout !== null && plan.holdout > 0) values.add(outcomes[HOLDOUT]!.value)
  if (plan.holdout === null || plan.holdout < 1) addConditions(project, plan, valuesByPosition, values)
  return values
}

function addConditions(
  project: Project,
  plan: Plan,
  valuesByPosition: readonly ReadonlySet<FlagValue>[],
  values: Set<FlagValue>,
): void {
  for (const condition of project.compiler.conditions.of(plan)) {
    const filters = filtersOf(project, condition, valuesByPosition)
    if (filters === 'never') continue
    // A condition that cannot be evaluated ends the evaluation.
    if (condition.predicates.some(id => canFail(project, id))) values.add(false)
    if (condition.rollout > 0 || condition.custom !== null)
      for (const value of matchValues(plan, condition)) values.add(value)
    // People outside of the rollout are off, also when a later condition includes everyone.
    if (plan.earlyExit && !includesEveryone(condition)) values.add(false)
    const isCertain = filters === 'always' && condition.entity === plan.entity
    if (isCertain && includesEveryone(condition)) return
    // With early exit, a subject outside of the rollout is off, whatever the later conditions are.
    if (plan.earlyExit && !includesEveryone(condition)) values.add(false)
    if (isCertain && plan.earlyExit) break
  }
  values.add(false)
}

/** Whether a condition's filters match. */
type Filters = 'always' | 'never' | 'sometimes'

function filtersOf(
  { compiler, index }: Project,
  { predicates }: PlannedCondition,
  valuesByPosition: readonly ReadonlySet<FlagValue>[],
): Filters {
  if (predicates.length === 0) return 'always'
  const { pool } = compiler
  for (const id of predicates) {
    const reads = pool.reads[id]!
    if (reads.kind === 'nothing') return 'never'
    if (reads.kind !== 'flag') continue
    const position = index.ofReference(reads.reference)
    const expected = pool.expected.get(id)
    if (position === undefined || expected === undefined) continue
    if (![...valuesByPosition[position]!].some(expected)) return 'never'
  }
  return 'sometimes'
}

/** Unknown cohorts, regular expressions beyond their budget, and the callback for static cohorts. */
function canFail(project: Project, id: number, seen = new Set<number>()): boolean {
  // Cohorts may share filters; what was seen did not fail.
  if (seen.has(id)) return false
  seen.add(id)
  const { reads, regexSizes } = project.compiler.pool
  const read = reads[id]!
  if (read.kind === 'cohort') return read.predicates.some(inner => canFail(project, inner, seen))
  return read.kind === 'failure' || read.kind === 'staticCohort' || regexSizes[id]! > 0
}

/** Other bucketing may hash a property, which a subject need not have. */
const includesEveryone = ({ rollout, custom }: PlannedCondition): boolean =>
  custom === null ? rollout === FULL_ROLLOUT : custom.percentage === null && custom.split === null

function matchValues(plan: Plan, { override, custom }: PlannedCondition): FlagValue[] {
  if (custom !== null && custom.split !== null) return [true, false, ...plan.variants.map(({ key }) => key || true)]
  if (override === OFF_VARIANT) return [false]
  if (override !== NO_VARIANT) return [plan.variants[override]!.key || true]
  const { variants } = plan
  const reached = variants.filter(({ from, to }) => from < to && from < 1).map(({ key }) => key || true)
  const isComplete = variants.length > 0 && variants.at(-1)!.to >= 1
  return isComplete ? reached : [...reached, true]
}
