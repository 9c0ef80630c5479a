import type { Flag } from '@halyard/contract'

/** Names of people's properties used by the conditions of these flags, for suggestions. */
export function propertyNames(flags: readonly Flag[]): string[] {
  const keys = new Set<string>()
  for (const { filters } of flags) {
    for (const group of (filters as { groups?: { properties?: { key?: unknown; type?: unknown }[] }[] }).groups ?? []) {
      for (const { key, type } of group.properties ?? []) {
        if (typeof key === 'string' && (type === undefined || type === 'person')) keys.add(key)
      }
    }
  }
  return [...keys].sort()
}
