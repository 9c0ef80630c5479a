import type { FlagDefinition } from '../definition/definition.ts'
import type { Report } from '../definition/issue.ts'
import type { ParsedBucketing, SplitPart } from '../definition/parse-bucketing.ts'
import type { ParsedCondition, ParsedFilters } from '../definition/parse-filters.ts'
import type { ParsedProperty } from '../definition/parse-property.ts'
import { conditionStride, NO_VARIANT, OFF_VARIANT, type Outcome } from '../evaluate/outcome.ts'
import { NO_ENTITY, PERSON } from '../evaluate/run.ts'
import { flagPrefix } from '../hash/bucket.ts'
import type { PackedPrefix } from '../hash/message.ts'
import { bucketingAlgorithms } from '../hash/vendors/bucketing-algorithms.ts'
import {
  type ConditionRows,
  ConditionTable,
  type CustomBucketing,
  NO_CONDITION,
  type PlannedCondition,
} from './condition-table.ts'
import type { PredicatePool } from './predicate-pool.ts'

/** How a flag is evaluated. A flag with only one outcome has no plan. */
export interface Plan extends ConditionRows {
  /** What the flag is about: `PERSON`, the entity of a group type, or `NO_ENTITY`. */
  readonly entity: number
  /** It has early access or a holdout. */
  readonly isSpecial: boolean
  /** How many outcomes each condition has. */
  readonly outcomeStride: number
  readonly earlyExit: boolean
  readonly variants: readonly VariantSpan[]
  /** What precedes the identifier in a hashed message. */
  readonly prefix: PackedPrefix
  readonly key: string
  /** All possible outcomes of the flag. */
  readonly outcomes: readonly Outcome[]
  readonly holdout: number | null
  readonly enrollmentKey: string | null
  /** The super condition applies only to persons with one of these properties. */
  readonly superKeys: readonly string[]
  readonly byDevice: boolean
  readonly continuity: boolean
  /** It is hashed with the entity's own identifier, not with a device id or an earlier id of the person. */
  readonly hasOwnIdentifier: boolean
  /** PostHog SDKs cannot evaluate it: it has its own bucketing or splits, or filters that they do not know. */
  readonly isServerOnly: boolean
}

export interface VariantSpan {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** Instead of the index of a variant: no part of the split includes the subject. */
export const OUTSIDE = -3
export const FULL_ROLLOUT = Number.POSITIVE_INFINITY

/** Conditions and variants, which flags often repeat: equal ones are stored once. */
export class PlanPool {
  readonly conditions = new ConditionTable()
  readonly #variants = new Map<string, readonly VariantSpan[]>()

  get size(): number {
    return this.conditions.size + this.#variants.size
  }

  variants(variants: readonly VariantSpan[]): readonly VariantSpan[] {
    if (variants.length === 0) return noVariants
    const name = JSON.stringify(variants)
    const shared = this.#variants.get(name) ?? variants
    this.#variants.set(name, shared)
    return shared
  }
}

const noVariants: readonly VariantSpan[] = []

export interface PlanOptions {
  readonly pool: PredicatePool
  readonly plans: PlanPool
  readonly entityOf: (groupIndex: string) => number | undefined
  readonly report: Report
}

export function planFlag(
  definition: FlagDefinition,
  filters: ParsedFilters,
  outcomes: readonly Outcome[],
  options: PlanOptions,
): Plan {
  const entity = filters.aggregation === null ? PERSON : (options.entityOf(filters.aggregation) ?? NO_ENTITY)
  const plan = (condition: ParsedCondition) => planCondition(condition, entity, definition, filters, options)
  const conditions = filters.conditions.map(plan)
  const superCondition = filters.superCondition === null ? null : plan(filters.superCondition)
  const byDevice = definition.bucketingIdentifier === 'device_id'
  const continuity = definition.ensureExperienceContinuity === true
  const conditionsStart = options.plans.conditions.add(conditions)
  return {
    // First what every evaluation reads, so that it lies in one or two cache lines.
    entity,
    isSpecial: filters.enrollment || filters.superCondition !== null || filters.holdout !== null,
    conditionsStart,
    conditionsEnd: conditionsStart + conditions.length,
    outcomeStride: conditionStride(filters.variants.length),
    earlyExit: filters.earlyExit,
    variants: options.plans.variants(variantSpans(filters)),
    prefix: flagPrefix(definition.key),
    key: definition.key,
    outcomes,
    holdout: filters.holdout === null ? null : filters.holdout.percentage / 100,
    enrollmentKey: filters.enrollment ? `$feature_enrollment/${definition.key}` : null,
    superCondition: superCondition === null ? NO_CONDITION : options.plans.conditions.add([superCondition]),
    superKeys: valueKeys(filters.superCondition),
    byDevice,
    continuity,
    hasOwnIdentifier: entity !== NO_ENTITY && (entity !== PERSON || !(byDevice || continuity)),
    isServerOnly: [...conditions, superCondition].some(
      condition => condition !== null && isServerOnly(condition, options.pool),
    ),
  }
}

const isServerOnly = ({ custom, override, predicates }: PlannedCondition, pool: PredicatePool): boolean =>
  custom !== null || override === OFF_VARIANT || predicates.some(id => pool.serverOnly.has(id))

function valueKeys(condition: ParsedCondition | null): string[] {
  return (condition?.properties ?? []).flatMap(property => (property.kind === 'value' ? [property.key] : []))
}

function planCondition(
  condition: ParsedCondition,
  flagEntity: number,
  { key }: FlagDefinition,
  filters: ParsedFilters,
  options: PlanOptions,
): PlannedCondition {
  const entity = conditionEntity(condition, flagEntity, options)
  const { percentage } = condition
  return {
    predicates: condition.properties.map(property => planProperty(property, entity, options)),
    rollout: percentage === null || percentage >= 100 ? FULL_ROLLOUT : percentage / 100,
    override: condition.isOff ? OFF_VARIANT : filters.variants.findIndex(variant => variant.key === condition.variant),
    entity,
    custom: planBucketing(condition, key, filters),
  }
}

function planBucketing(condition: ParsedCondition, flagKey: string, filters: ParsedFilters): CustomBucketing | null {
  const { percentage, split } = condition
  const bucketing = condition.bucketing ?? filters.bucketing
  if (bucketing === null && split === null) return null
  const native: ParsedBucketing = {
    algorithm: 'posthog',
    seed: flagKey,
    by: null,
    identifierPrefix: '',
    encoding: 'utf-8',
  }
  const planned = ({ algorithm, ...rest }: ParsedBucketing) => ({ ...rest, algorithm: bucketingAlgorithms[algorithm] })
  return {
    rollout: percentage === null ? null : planned(bucketing ?? native),
    percentage,
    split: split && {
      bucketing: planned(split.bucketing ?? bucketing ?? native),
      variants: split.parts.map(part => partIndex(part, filters)),
      weights: split.parts.map(({ weight }) => weight),
      ranges: split.parts[0]!.range === null ? null : split.parts.map(({ range }) => range!),
    },
  }
}

function partIndex({ variant }: SplitPart, filters: ParsedFilters): number {
  if (typeof variant === 'boolean') return variant ? NO_VARIANT : OFF_VARIANT
  const index = filters.variants.findIndex(({ key }) => key === variant)
  return index === -1 ? OUTSIDE : index
}

/** A filter that cannot be evaluated matches no one, also when it is inverted. */
function planProperty(property: ParsedProperty, entity: number, { pool, report }: PlanOptions): number {
  const id = pool.idOf(property, entity)
  const valueIssue = pool.valueIssues.get(id)
  if (valueIssue !== undefined) report(valueIssue.code, `${property.path}.value`, valueIssue.message)
  const isInverted = property.inverted && valueIssue === undefined && pool.reads[id]!.kind !== 'nothing'
  return isInverted ? pool.inverseOf(id) : id
}

/**
 * A condition may be about a group while its flag is about persons. In a flag about groups, null means the flag's group
 * type, as in PostHog SDKs.
 */
function conditionEntity(condition: ParsedCondition, flagEntity: number, options: PlanOptions): number {
  if (condition.aggregation === undefined || condition.aggregation === null) return flagEntity
  return options.entityOf(condition.aggregation) ?? NO_ENTITY
}

/** Adds up as PostHog SDKs do, including rounding errors. A variant with an empty key evaluates to true. */
function variantSpans(filters: ParsedFilters): VariantSpan[] {
  let from = 0
  return filters.variants.map(({ key, percentage }) => {
    const to = from + percentage / 100
    const span = { key, from, to }
    from = to
    return span
  })
}
