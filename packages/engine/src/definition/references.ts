import { isRecord } from './json.ts'
import { type ParsedGroup, parseCohortFilters } from './parse-cohort.ts'
import { parseFilters } from './parse-filters.ts'
import type { CohortProperty, FlagProperty, ParsedProperty } from './parse-property.ts'

/** The ids that the filters of a flag or a cohort refer to directly. */
export function usesOf(filters: unknown): { flags: number[]; cohorts: number[] } {
  const references = referencesIn(filters)
  return {
    flags: idsOf(references.flatMap(reference => (reference.kind === 'flag' ? [reference.reference] : []))),
    cohorts: idsOf(references.flatMap(reference => (reference.kind === 'cohort' ? [reference.id] : []))),
  }
}

/** Only the cohort ids. */
export const usesCohorts = (filters: unknown): number[] => usesOf(filters).cohorts

/** Only the flag ids. */
export const usesFlags = (filters: unknown): number[] => usesOf(filters).flags

function idsOf(texts: readonly string[]): number[] {
  if (texts.length === 0) return []
  return [...new Set(texts.filter(text => /^\d+$/.test(text)).map(Number))]
}

/** A filter that refers to another flag or cohort. */
export type Reference = CohortProperty | FlagProperty

export function referencesIn(filters: unknown): Reference[] {
  return propertiesIn(filters).filter(property => property.kind !== 'value')
}

/** All filters of a flag or a cohort. */
export function propertiesIn(filters: unknown): ParsedProperty[] {
  if (isRecord(filters) && (Object.hasOwn(filters, 'properties') || Object.hasOwn(filters, 'values'))) {
    const tree = parseCohortFilters(filters, () => {})
    return tree === undefined ? [] : leavesOf(tree)
  }
  const parsed = parseFilters(filters, () => {})
  if (parsed === undefined) return []
  const conditions = parsed.superCondition === null ? parsed.conditions : [...parsed.conditions, parsed.superCondition]
  return conditions.flatMap(condition => condition.properties)
}

export function leavesOf(group: ParsedGroup): ParsedProperty[] {
  return group.members.flatMap(member => (member.kind === 'group' ? leavesOf(member) : [member]))
}
