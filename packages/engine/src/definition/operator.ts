/** The operators of property filters and their properties. */

export const operators = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'icontains_multi',
  'not_icontains_multi',
  'starts_with',
  'not_starts_with',
  'ends_with',
  'not_ends_with',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'between',
  'not_between',
  'is_set',
  'is_not_set',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'semver_eq',
  'semver_neq',
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
  'semver_tilde',
  'semver_caret',
  'semver_wildcard',
] as const

export type Operator = (typeof operators)[number]

const names: ReadonlySet<string> = new Set(operators)

const aliases: ReadonlyMap<string, Operator> = new Map([
  ['min', 'gte'],
  ['max', 'lte'],
])

/** An absent operator means `exact`. */
export function parseOperator(value: unknown): Operator | undefined {
  if (value === undefined || value === null || value === '') return 'exact'
  if (typeof value !== 'string') return undefined
  return names.has(value) ? (value as Operator) : aliases.get(value)
}

const dated: ReadonlySet<Operator> = new Set<Operator>(['is_date_exact', 'is_date_before', 'is_date_after'])

/** Whether the result depends on the current time. */
export const readsClock = (operator: Operator): boolean => dated.has(operator)

const matchesAbsence: ReadonlySet<Operator> = new Set<Operator>([
  'is_not',
  'not_icontains',
  'not_icontains_multi',
  'not_starts_with',
  'not_ends_with',
  'not_regex',
  'not_between',
  'is_not_set',
])

/** Whether the operator matches a subject without the property. */
export function matchesMissing(operator: Operator): boolean {
  return matchesAbsence.has(operator)
}

const readsNull: ReadonlySet<Operator> = new Set<Operator>([
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'starts_with',
  'not_starts_with',
  'ends_with',
  'not_ends_with',
  'regex',
  'not_regex',
  'is_set',
  'is_not_set',
])

/** Whether null is compared as the text `null`. For all other operators null never matches. */
export function acceptsNull(operator: Operator): boolean {
  return readsNull.has(operator)
}
