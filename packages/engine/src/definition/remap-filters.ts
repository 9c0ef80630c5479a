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
