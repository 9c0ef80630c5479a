import type { Property } from '../../filters.ts'

/** Within a cohort, `negation` turns a filter round. Without it the filter is as it was. */
export function negated(property: Property, isNegated: boolean): Property {
  const { negation: _old, ...rest } = property
  return (isNegated ? { ...rest, negation: true } : rest) as Property
}
