import type { Property } from '../../filters.ts'

/** Inside a cohort, `negation` inverts a filter. */
export function negated(property: Property, isNegated: boolean): Property {
  const { negation: _old, ...rest } = property
  return (isNegated ? { ...rest, negation: true } : rest) as Property
}

/** In a condition, `inverted` inverts a filter. */
export function inverted(property: Property, isInverted: boolean): Property {
  const { inverted: _old, ...rest } = property
  return (isInverted ? { ...rest, inverted: true } : rest) as Property
}

/** `ignore_case` makes a strict operator ignore case. */
export function withCase(property: Property): Property {
  const { ignore_case: _old, ...rest } = property
  return rest as Property
}
