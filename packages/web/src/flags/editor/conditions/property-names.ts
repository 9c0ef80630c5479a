import type { Flag } from '@halyard/contract'

/** Property names used by the conditions of these flags, for suggestions. */
export function propertyNames(flags: readonly Flag[]): string[] {
  const keys = new Set<string>()
  for (const { filters } of flags) {
    for (const group of (filters as { groups?: { properties?: { key?: unknown; type?: unknown }[] }[] }).groups ?? []) {
      for (const { key, type } of group.properties ?? []) {
        if (typeof key === 'string' && type !== 'cohort' && type !== 'flag') keys.add(key)
      }
    }
  }
  return [...keys].sort()
}
