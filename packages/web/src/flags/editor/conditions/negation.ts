import type { Property } from '../../filters.ts'

/** Inside a cohort, `negation` inverts a filter. */
export function negated(property: Property, isNegated: boolean): Property {
  const { negation: _old, ...rest } = property
  return (isNegated ? { ...rest, negation: true } : rest) as Property
}
