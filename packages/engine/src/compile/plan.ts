import type { FlagDefinition } from '../definition/definition.ts'
import type { Report } from '../definition/issue.ts'
import type { ParsedCondition, ParsedFilters } from '../definition/parse-filters.ts'
import type { ParsedProperty } from '../definition/parse-property.ts'
import { PERSON } from '../evaluate/run.ts'
import { flagPrefix } from '../hash/bucket.ts'
import type { PackedPrefix } from '../hash/bucket-message.ts'
import type { PredicatePool } from './predicate-pool.ts'

/** How a flag is evaluated. Null in its place means that the flag has but one outcome. */
export interface Plan {
  /** What stands before the identifier in what is hashed. */
  readonly prefix: PackedPrefix
  readonly conditions: readonly PlannedCondition[]
  readonly variants: readonly VariantSpan[]
  /** Whose flag it is: `PERSON`, the bag of a group type, or `NO_BAG`. */
  readonly bag: number
  readonly holdout: number | null
  readonly enrollmentKey: string | null
  readonly superCondition: PlannedCondition | null
  /** The properties that make the super condition speak. */
  readonly superKeys: readonly string[]
  readonly earlyExit: boolean
  readonly byDevice: boolean
  readonly continuity: boolean
}

export interface PlannedCondition {
  readonly predicates: readonly number[]
  /** The share of people, from 0 to 1. `EVERYBODY` needs no hash. */
  readonly share: number
  /** The position of the variant that the condition forces, or `NO_VARIANT`. */
  readonly override: number
  readonly bag: number
}

export interface VariantSpan {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** A group type that the project does not have. */
export const NO_BAG = -1
export const NO_VARIANT = -1
export const EVERYBODY = Number.POSITIVE_INFINITY

export interface PlanOptions {
  readonly pool: PredicatePool
  readonly bagOf: (groupIndex: string) => number | undefined
  readonly report: Report
}

export function planFlag(definition: FlagDefinition, filters: ParsedFilters, options: PlanOptions): Plan {
  const bag = filters.aggregation === null ? PERSON : (options.bagOf(filters.aggregation) ?? NO_BAG)
  const plan = (condition: ParsedCondition) => planCondition(condition, bag, filters, options)
  return {
    prefix: flagPrefix(definition.key),
    conditions: filters.conditions.map(plan),
    variants: variantSpans(filters),
    bag,
    holdout: filters.holdout === null ? null : filters.holdout.percentage / 100,
    enrollmentKey: filters.enrollment ? `$feature_enrollment/${definition.key}` : null,
    superCondition: filters.superCondition === null ? null : plan(filters.superCondition),
    superKeys: valueKeys(filters.superCondition),
    earlyExit: filters.earlyExit,
    byDevice: definition.bucketingIdentifier === 'device_id',
    continuity: definition.ensureExperienceContinuity === true,
  }
}

function valueKeys(condition: ParsedCondition | null): string[] {
  return (condition?.properties ?? []).flatMap(property => (property.kind === 'value' ? [property.key] : []))
}

function planCondition(
  condition: ParsedCondition,
  flagBag: number,
  filters: ParsedFilters,
  options: PlanOptions,
): PlannedCondition {
  const bag = conditionBag(condition, flagBag, options)
  const { percentage } = condition
  return {
    predicates: condition.properties.map(property => planProperty(property, bag, options)),
    share: percentage === null || percentage >= 100 ? EVERYBODY : percentage / 100,
    override: filters.variants.findIndex(variant => variant.key === condition.variant),
    bag,
  }
}

function planProperty(property: ParsedProperty, bag: number, { pool, report }: PlanOptions): number {
  const id = pool.idOf(property, bag)
  const misfit = pool.misfits.get(id)
  if (misfit !== undefined) report(misfit.code, `${property.path}.value`, misfit.message)
  return id
}

/**
 * A condition may be about a group while its flag is about persons. In a flag about groups, a condition that says null
 * stays with the flag's groups, as in the client libraries.
 */
function conditionBag(condition: ParsedCondition, flagBag: number, options: PlanOptions): number {
  if (condition.aggregation === undefined || condition.aggregation === null) return flagBag
  return options.bagOf(condition.aggregation) ?? NO_BAG
}

/** The sums are those of the client libraries, rounding included. A variant without a key counts as plain true. */
function variantSpans(filters: ParsedFilters): VariantSpan[] {
  let from = 0
  return filters.variants.map(({ key, percentage }) => {
    const to = from + percentage / 100
    const span = { key, from, to }
    from = to
    return span
  })
}
