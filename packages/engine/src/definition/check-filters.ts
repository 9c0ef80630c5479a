import type { Report } from './issue.ts'
import type { ParsedCondition, ParsedFilters } from './parse-filters.ts'

/** The checks that do not depend on the rest of the project. */
export function checkFilters(filters: ParsedFilters, report: Report): void {
  checkGroupIndex(filters.aggregation, 'filters', report)
  for (const condition of filters.conditions) checkCondition(condition, filters, report)
  if (filters.superCondition !== null) checkCondition(filters.superCondition, filters, report)
  checkVariants(filters, report)
  checkPayloads(filters, report)
}

function checkCondition(condition: ParsedCondition, filters: ParsedFilters, report: Report): void {
  checkPercentage(condition.percentage, `${condition.path}.rollout_percentage`, report)
  checkGroupIndex(condition.aggregation, condition.path, report)
  const { variant, split } = condition
  if (variant !== null) checkVariantKey(variant, `${condition.path}.variant`, filters, report)
  for (const [index, part] of (split?.parts ?? []).entries()) {
    if (typeof part.variant === 'string')
      checkVariantKey(part.variant, `${split!.path}.variants[${index}].variant`, filters, report)
  }
}

function checkVariantKey(variant: string, path: string, { variants }: ParsedFilters, report: Report): void {
  if (!variants.some(({ key }) => key === variant)) {
    report('unknown_variant', path, `There is no variant "${variant}".`)
  }
}

function checkGroupIndex(index: string | null | undefined, path: string, report: Report): void {
  if (index === null || index === undefined || /^[0-4]$/.test(index)) return
  const message = 'The group type index must be a number from 0 to 4.'
  report('out_of_range', `${path}.aggregation_group_type_index`, message)
}

function checkPercentage(percentage: number | null, path: string, report: Report): void {
  if (percentage !== null && (percentage < 0 || percentage > 100)) {
    report('out_of_range', path, 'The percentage must be between 0 and 100.')
  }
}

const sumTolerance = 0.001

function checkVariants({ variants }: ParsedFilters, report: Report): void {
  if (variants.length === 0) return
  const path = 'filters.multivariate.variants'
  const seen = new Set<string>()
  let sum = 0
  for (const [index, { key, percentage }] of variants.entries()) {
    checkPercentage(percentage, `${path}[${index}].rollout_percentage`, report)
    if (key === '') report('invalid_value', `${path}[${index}].key`, 'The key of a variant cannot be empty.')
    if (seen.has(key)) report('duplicate_variant', `${path}[${index}].key`, `Duplicate variant key "${key}".`)
    seen.add(key)
    sum += percentage
  }
  if (!(Math.abs(sum - 100) <= sumTolerance)) {
    report('variant_sum', path, `Variant percentages must add up to 100, not ${Number(sum.toFixed(3))}.`)
  }
}

/** Every payload must belong to a value that the flag can have. */
function checkPayloads(filters: ParsedFilters, report: Report): void {
  if (filters.payloadKeys.length === 0) return
  const values = new Set(filters.variants.map(({ key }) => key))
  if (values.size === 0 || filters.enrollment || filters.superCondition !== null) values.add('true')
  if (filters.holdout !== null) values.add(filters.holdout.variant)
  for (const key of filters.payloadKeys) {
    if (values.has(key)) continue
    const remedy = filters.variants.length === 0 ? 'Without variants, the only payload is "true".' : ''
    report(
      'unknown_payload',
      `filters.payloads.${key}`,
      `There is no variant "${key}" for this payload. ${remedy}`.trim(),
    )
  }
}
