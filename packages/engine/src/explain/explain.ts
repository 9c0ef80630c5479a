import type { CompiledFlag } from '../compile/compiler.ts'
import type { CustomBucketing, PlannedCondition, PlannedSplit } from '../compile/condition-table.ts'
import { FULL_ROLLOUT, type Plan } from '../compile/plan.ts'
import type { Project } from '../compile/project.ts'
import { own } from '../definition/json.ts'
import { type ParsedCondition, type ParsedFilters, parseFilters } from '../definition/parse-filters.ts'
import { holdoutBucketOf, isHeldOut, isInRollout, rolloutBucketOf, variantBucketOf } from '../evaluate/bucketing.ts'
import { hashIdentifierOf, hashOf } from '../evaluate/custom-bucketing.ts'
import { deviceIdOf, identifierOf } from '../evaluate/identifier.ts'
import { NO_VARIANT, OFF_VARIANT, type Outcome } from '../evaluate/outcome.ts'
import { NO_ENTITY, PERSON, type Run } from '../evaluate/run.ts'
import { FilterExplainer } from './explain-filter.ts'
import type { ConditionTrace, HoldoutTrace, IdentifierTrace, RolloutTrace, Trace, VariantTrace } from './trace.ts'

/** Explains a flag that has been decided in this run. */
export function explainFlag(project: Project, run: Run, index: number): Trace {
  const flag = project.flags[index]!
  const outcome = flag.outcomes[run.outcomes[index]!]!
  const { plan, key, id } = flag
  const filters = plan === null ? undefined : parseFilters(flag.definition.filters, () => {})
  if (plan === null || filters === undefined) return { ...unexplained, key, flagId: id, outcome }
  run.position = index
  return new Explanation(project, run, flag, plan, filters, outcome).trace()
}

const unexplained: Omit<Trace, 'key' | 'flagId' | 'outcome'> = {
  identifier: null,
  enrollment: null,
  superCondition: null,
  holdout: null,
  conditions: [],
  variant: null,
  overruled: false,
}

class Explanation {
  readonly #project: Project
  readonly #run: Run
  readonly #flag: CompiledFlag
  readonly #plan: Plan
  readonly #filters: ParsedFilters
  readonly #outcome: Outcome
  readonly #explainer: FilterExplainer

  constructor(project: Project, run: Run, flag: CompiledFlag, plan: Plan, filters: ParsedFilters, outcome: Outcome) {
    this.#project = project
    this.#run = run
    this.#flag = flag
    this.#plan = plan
    this.#filters = filters
    this.#outcome = outcome
    this.#explainer = new FilterExplainer(project, run)
  }

  trace(): Trace {
    const conditions = this.#filters.conditions.map((condition, index) =>
      this.#condition(condition, this.#rowOf(index), index),
    )
    const present = this.#run.has(this.#plan.entity)
    return {
      key: this.#flag.key,
      flagId: this.#flag.id,
      outcome: this.#outcome,
      identifier: present ? this.#identifier() : null,
      enrollment: this.#enrollment(),
      superCondition: this.#superCondition(),
      holdout: present ? this.#holdout() : null,
      conditions,
      variant: this.#variant(),
      overruled: this.#isOverruled(conditions),
    }
  }

  #identifier(): IdentifierTrace {
    const { entity, byDevice, continuity } = this.#plan
    const { subject } = this.#run
    const value = identifierOf(this.#run, this.#plan, entity)
    if (entity !== PERSON) return { value, source: 'group' }
    if (byDevice && deviceIdOf(this.#run) !== undefined) return { value, source: 'device_id' }
    if (!continuity || (subject.anonDistinctId === undefined && !subject.hashKeyOverrides)) {
      return { value, source: 'distinct_id' }
    }
    const stored = subject.hashKeyOverrides ? own(subject.hashKeyOverrides, this.#flag.key) : undefined
    if (typeof stored === 'string') return { value, source: 'hash_key_override' }
    return { value, source: subject.anonDistinctId ? 'anon_distinct_id' : 'distinct_id' }
  }

  #enrollment(): Trace['enrollment'] {
    const property = this.#plan.enrollmentKey
    if (property === null) return null
    const entity = this.#run.entityProperties[PERSON]!
    return { property, present: Object.hasOwn(entity, property), seen: own(entity, property) ?? null }
  }

  #superCondition(): ConditionTrace | null {
    const condition = this.#filters.superCondition
    return condition === null ? null : this.#condition(condition, this.#plan.superCondition, 0)
  }

  #holdout(): HoldoutTrace | null {
    const threshold = this.#plan.holdout
    if (threshold === null) return null
    return {
      variant: this.#filters.holdout!.variant,
      bucket: holdoutBucketOf(this.#run, this.#plan),
      threshold,
      heldOut: isHeldOut(this.#run, this.#plan),
    }
  }

  #rowOf(index: number): number {
    return this.#plan.conditionsStart + index
  }

  #condition(condition: ParsedCondition, row: number, index: number): ConditionTrace {
    const planned = this.#run.conditions.at(row)
    const about = {
      index,
      groupType: this.#project.compiler.groupTypes[planned.entity] ?? null,
      reached: this.#isReached(index),
    }
    if (!this.#run.has(planned.entity)) {
      return { ...about, result: 'no_group', decidedBy: null, filters: [], rollout: null }
    }
    const filters = condition.properties.map(property => this.#explainer.filter(property, planned.entity))
    const rollout = this.#rollout(planned, row)
    const against = filters.findIndex(filter => !filter.matched && !filter.failed)
    const decidedBy = against === -1 ? filters.findIndex(filter => filter.failed) : against
    const matched = rollout === null || rollout.inside ? 'matched' : 'out_of_rollout'
    const unmatched = against === -1 ? 'failed' : 'not_matched'
    return {
      ...about,
      result: decidedBy === -1 ? matched : unmatched,
      decidedBy: decidedBy === -1 ? null : decidedBy,
      filters,
      rollout,
    }
  }

  /** Conditions are reached unless early access or a holdout decided, up to the deciding one. */
  #isReached(index: number): boolean {
    const { code, conditionIndex } = this.#outcome.reason
    if (code === 'super_condition_value' || code === 'holdout_condition_value' || code === 'missing_dependency')
      return false
    const decides = code === 'condition_match' || (code === 'out_of_rollout_bound' && this.#plan.earlyExit)
    return !decides || conditionIndex === null || index <= conditionIndex
  }

  #rollout(condition: PlannedCondition, row: number): RolloutTrace | null {
    if (condition.custom !== null) return this.#customRollout(condition.entity, row, condition.custom)
    if (condition.rollout === FULL_ROLLOUT) return null
    const bucket = rolloutBucketOf(this.#run, this.#plan, condition.entity)
    return {
      identifier: identifierOf(this.#run, this.#plan, condition.entity),
      bucket,
      threshold: condition.rollout,
      inside: bucket <= condition.rollout,
    }
  }

  #customRollout(entity: number, row: number, { percentage, rollout, split }: CustomBucketing): RolloutTrace | null {
    const bucketing = rollout ?? split?.bucketing
    if (bucketing === undefined) return null
    const kind = rollout === null ? 'splitHash' : 'rolloutHash'
    const hash = hashOf(this.#run, this.#plan, entity, bucketing, kind)
    return {
      identifier: hashIdentifierOf(this.#run, this.#plan, entity, bucketing) ?? '',
      bucket: hash === undefined ? 0 : bucketing.algorithm.position(hash),
      threshold: (percentage ?? 100) / 100,
      inside: isInRollout(this.#run, this.#plan, row),
    }
  }

  #customVariant(entity: number, { bucketing, ranges, variants, weights }: PlannedSplit): VariantTrace {
    const hash = hashOf(this.#run, this.#plan, entity, bucketing, 'splitHash')
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    let from = 0
    const spans = variants.map((variant, index) => {
      const start = from
      from += weights[index]! / total
      const [first, last] = ranges === null ? [start, from] : ranges[index]!
      return { key: this.#plan.variants[variant]?.key ?? String(variant !== OFF_VARIANT), from: first, to: last }
    })
    const bucket = hash === undefined ? null : bucketing.algorithm.position(hash)
    return { key: this.#outcome.variant, forced: false, bucket, spans }
  }

  /** A variant is selected only after a match. */
  #variant(): VariantTrace | null {
    const { code, conditionIndex } = this.#outcome.reason
    const spans = this.#plan.variants
    if (code !== 'condition_match' || conditionIndex === null || spans.length === 0) return null
    const condition = this.#run.conditions.at(this.#rowOf(conditionIndex))
    const forced = condition.override !== NO_VARIANT
    const split = condition.custom?.split ?? null
    if (!forced && split !== null) return this.#customVariant(condition.entity, split)
    const bucket = forced ? null : variantBucketOf(this.#run, this.#plan, condition.entity)
    return { key: this.#outcome.variant, forced, bucket, spans }
  }

  #isOverruled(conditions: readonly ConditionTrace[]): boolean {
    const { code, conditionIndex } = this.#outcome.reason
    if (code !== 'condition_match' || conditionIndex === null || this.#plan.entity === NO_ENTITY) return false
    return conditions.slice(0, conditionIndex).some(({ result }) => {
      return result === 'matched' || result === 'failed' || (result === 'out_of_rollout' && this.#plan.earlyExit)
    })
  }
}
