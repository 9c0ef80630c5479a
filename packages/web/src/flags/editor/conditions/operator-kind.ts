/** The input that an operator needs. */
export type ValueKind = 'nothing' | 'list' | 'text' | 'number' | 'range' | 'date' | 'version' | 'pattern' | 'json'

const kinds: Readonly<Record<string, ValueKind>> = {
  exact: 'list',
  is_not: 'list',
  icontains_multi: 'list',
  not_icontains_multi: 'list',
  is_set: 'nothing',
  is_not_set: 'nothing',
  regex: 'pattern',
  not_regex: 'pattern',
  gt: 'number',
  gte: 'number',
  lt: 'number',
  lte: 'number',
  between: 'range',
  not_between: 'range',
  is_date_exact: 'date',
  is_date_before: 'date',
  is_date_after: 'date',
  text_equals: 'list',
  text_contains: 'list',
  text_starts_with: 'list',
  text_ends_with: 'list',
  text_matches: 'pattern',
  number_eq: 'number',
  number_gt: 'number',
  number_gte: 'number',
  number_lt: 'number',
  number_lte: 'number',
  number_modulo: 'json',
  date_or_now_after: 'date',
  date_or_now_before: 'date',
  date_after: 'date',
  date_before: 'date',
  json_one_of: 'json',
  list_contains_any: 'json',
  list_contains_all: 'json',
  list_length: 'json',
  type_is: 'list',
  ip_in_cidr: 'list',
}

export const valueKind = (operator: string): ValueKind =>
  kinds[operator] ?? (/^(semver|version)_/.test(operator) ? 'version' : 'text')

/** Converts the value to the shape that another operator expects. */
export function valueFor(operator: string, value: unknown): unknown {
  const values = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  // Operators without a value store their own name as the value.
  const list = values.filter(item => item !== 'is_set' && item !== 'is_not_set')
  switch (valueKind(operator)) {
    case 'nothing':
      return operator
    case 'list':
    case 'json':
      return list
    case 'range':
      return [list[0] ?? '', list[1] ?? '']
    default:
      return list[0] === undefined ? '' : String(list[0])
  }
}

/** JSON as typed. Text that is not JSON yet stays text, which the engine rejects. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
