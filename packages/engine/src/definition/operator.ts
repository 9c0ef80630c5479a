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

/**
 * Operators that PostHog does not have. They do not convert between types beyond what their name says, case matters, and
 * a missing or unfit value never matches, so that `inverted` is their exact complement.
 */
export const strictOperators = [
  'text_equals',
  'text_contains',
  'text_starts_with',
  'text_ends_with',
  'text_matches',
  'number_eq',
  'number_gt',
  'number_gte',
  'number_lt',
  'number_lte',
  'number_modulo',
  'version_eq',
  'version_gt',
  'version_gte',
  'version_lt',
  'version_lte',
  'date_or_now_after',
  'date_or_now_before',
  'date_after',
  'date_before',
  'json_one_of',
  'list_contains_any',
  'list_contains_all',
  'list_length',
  'type_is',
  'ip_in_cidr',
] as const

export type StrictOperator = (typeof strictOperators)[number]

export type Operator = (typeof operators)[number] | StrictOperator

const strict: ReadonlySet<string> = new Set(strictOperators)

export const isStrict = (operator: string): operator is StrictOperator => strict.has(operator)

const names: ReadonlySet<string> = new Set([...operators, ...strictOperators])

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

const dated: ReadonlySet<Operator> = new Set<Operator>([
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'date_or_now_after',
  'date_or_now_before',
])

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

const foldsCase: ReadonlySet<Operator> = new Set<Operator>([
  'text_equals',
  'text_contains',
  'text_starts_with',
  'text_ends_with',
  'text_matches',
  'list_contains_any',
  'list_contains_all',
])

const comparesType: ReadonlySet<Operator> = new Set<Operator>([
  'text_equals',
  'text_contains',
  'text_starts_with',
  'text_ends_with',
  'text_matches',
  'number_eq',
  'number_gt',
  'number_gte',
  'number_lt',
  'number_lte',
])

/** Whether `same_type` can be used with the operator. */
export const hasSameType = (operator: Operator): boolean => comparesType.has(operator)

/** Whether `any_item` can be used with the operator: all strict ones that do not read lists themselves. */
export const hasAnyItem = (operator: Operator): boolean =>
  isStrict(operator) && !/^(list_|date_or_now_|type_is)/.test(operator)

/** Whether `partial_versions` can be used with the operator. */
export const hasPartialVersions = (operator: Operator): boolean => operator.startsWith('version_')

/** Whether `ignore_case` can be used with the operator. */
export const hasIgnoreCase = (operator: Operator): boolean => foldsCase.has(operator)
