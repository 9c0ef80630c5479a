import type { Properties } from '../../domain/properties.ts'
import { isNameable, isSuggestible, type PropertyType, typeOf } from './definition.ts'

export interface CountedValue {
  readonly value: unknown
  readonly count: number
}

export const valuesShownMax = 50

/** The most frequent values of a property that contain a text. */
export function countValues(sample: readonly Properties[], name: string, search: string): readonly CountedValue[] {
  const counts = new Map<unknown, number>()
  for (const properties of sample) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (isSuggestible(value) && isFound(value, search)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (String(a.value) < String(b.value) ? -1 : 1))
    .slice(0, valuesShownMax)
}

export const isFound = (value: unknown, search: string): boolean =>
  String(value).toLowerCase().includes(search.toLowerCase())

/** Names of the properties in a sample with the type of the first value. */
export function namesIn(sample: readonly Properties[]): ReadonlyMap<string, PropertyType | null> {
  const names = new Map<string, PropertyType | null>()
  for (const properties of sample) {
    for (const [name, value] of Object.entries(properties)) {
      if (!names.has(name) && isNameable(name)) names.set(name, typeOf(value))
    }
  }
  return names
}
