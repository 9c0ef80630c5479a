import { isRecord } from './json.ts'
import type { Behavior } from './parse-behavior.ts'
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
  return propertiesIn(filters).filter(property => property.kind === 'cohort' || property.kind === 'flag')
}

/** The behavioral filters of a cohort; not those of the cohorts that it refers to. */
export function behaviorsIn(filters: unknown): Behavior[] {
  return propertiesIn(filters).flatMap(property =>
    property.kind === 'behavior' && property.behavior !== undefined ? [property.behavior] : [],
  )
}

/** Whether a cohort itself has behavioral filters, which need stored events: only the server can evaluate it. */
export const isBehavioral = (filters: unknown): boolean => propertiesIn(filters).some(({ kind }) => kind === 'behavior')

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

/** Maps references of one project to those of another; undefined leaves one as it is. */
export interface Remap {
  readonly cohort: (id: string) => number | string | undefined
  readonly flag: (reference: string) => number | string | undefined
  readonly groupType: (index: string) => number | undefined
}

/** Rewrites every reference to a cohort, a flag or a group type; everything else stays as it is. */
export function remapFilters<T>(filters: T, remap: Remap): T {
  if (Array.isArray(filters)) return filters.map(item => remapFilters(item, remap)) as T
  if (typeof filters !== 'object' || filters === null) return filters
  const entries = Object.entries(filters).map(([name, value]) => [name, remapField(filters, name, value, remap)])
  return Object.fromEntries(entries) as T
}

/** Free-form user data without references. */
const opaqueFields = new Set(['payloads', 'variants'])

function remapField(owner: object, name: string, value: unknown, remap: Remap): unknown {
  const { type } = owner as { type?: unknown }
  if (type === 'cohort' && name === 'value') return likeBefore(value, remap.cohort(String(value)))
  if (type === 'flag' && name === 'key') return likeBefore(value, remap.flag(String(value)))
  if ((name === 'aggregation_group_type_index' || name === 'group_type_index') && value !== null) {
    return remap.groupType(String(value)) ?? value
  }
  return opaqueFields.has(name) ? value : remapFilters(value, remap)
}

/** What was a text stays one. */
const likeBefore = (before: unknown, after: number | string | undefined): unknown => {
  if (after === undefined) return before
  return typeof before === 'string' ? String(after) : after
}
