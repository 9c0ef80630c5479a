/** The input that an operator needs. */
export type ValueKind = 'nothing' | 'list' | 'text' | 'number' | 'range' | 'date' | 'version' | 'pattern'

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
}

export const valueKind = (operator: string): ValueKind =>
  kinds[operator] ?? (operator.startsWith('semver_') ? 'version' : 'text')

/** Converts the value to the shape that another operator expects. */
export function valueFor(operator: string, value: unknown): unknown {
  const given = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  // Operators without a value store their own name as the value.
  const list = given.filter(item => item !== 'is_set' && item !== 'is_not_set')
  switch (valueKind(operator)) {
    case 'nothing':
      return operator
    case 'list':
      return list
    case 'range':
      return [list[0] ?? '', list[1] ?? '']
    default:
      return list[0] === undefined ? '' : String(list[0])
  }
}
