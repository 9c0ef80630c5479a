/** From what a reference is called in one project to what it is called in another; undefined leaves it as it is. */
export interface Remap {
  readonly cohort: (id: string) => number | undefined
  readonly flag: (reference: string) => string | undefined
  readonly groupType: (index: string) => number | undefined
}

/** The same filters with every reference to a cohort, a flag or a group type told anew. Everything else stays, wherever it is. */
export function remapFilters<T>(filters: T, remap: Remap): T {
  if (Array.isArray(filters)) return filters.map(item => remapFilters(item, remap)) as T
  if (typeof filters !== 'object' || filters === null) return filters
  const entries = Object.entries(filters).map(([name, value]) => [name, remapField(filters, name, value, remap)])
  return Object.fromEntries(entries) as T
}

/** What these hold is the user's own and refers to nothing. */
const opaqueFields = new Set(['payloads', 'variants'])

function remapField(owner: object, name: string, value: unknown, remap: Remap): unknown {
  const { type } = owner as { type?: unknown }
  if (type === 'cohort' && name === 'value') return remap.cohort(String(value)) ?? value
  if (type === 'flag' && name === 'key') return remap.flag(String(value)) ?? value
  if ((name === 'aggregation_group_type_index' || name === 'group_type_index') && value !== null) {
    return remap.groupType(String(value)) ?? value
  }
  return opaqueFields.has(name) ? value : remapFilters(value, remap)
}
