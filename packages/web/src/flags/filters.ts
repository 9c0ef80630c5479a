/** A flag's filters as the web app reads and edits them. Unknown keys are preserved. */
export interface Property {
  readonly key: string
  /** `behavioral` in cohorts only. */
  readonly type: 'person' | 'group' | 'cohort' | 'flag' | 'behavioral'
  readonly operator: string
  readonly value: unknown
  readonly group_type_index?: number | null
  readonly [extra: string]: unknown
}

export interface Condition {
  readonly properties: readonly Property[]
  readonly rollout_percentage: number | null
  readonly variant?: string | null
  readonly [extra: string]: unknown
}

export interface Variant {
  readonly key: string
  readonly name?: string
  readonly rollout_percentage: number
  readonly [extra: string]: unknown
}

export interface Filters {
  readonly groups: readonly Condition[]
  readonly variants: readonly Variant[]
  readonly payloads: Readonly<Record<string, unknown>>
  readonly groupTypeIndex: number | null
  /** The stored object. */
  readonly raw: Readonly<Record<string, unknown>>
}

type JsonObject = Record<string, unknown>
const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const recordsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isRecord) : [])

/** The value of a key that a user chose; a variant may be called `constructor`. */
export const own = <T>(values: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined

/** Lenient: anything missing or of another shape is read as absent. */
export function readFilters(raw: Readonly<Record<string, unknown>>): Filters {
  const multivariate = isRecord(raw.multivariate) ? raw.multivariate : {}
  const index = raw.aggregation_group_type_index
  return {
    raw,
    groups: recordsOf(raw.groups).map(readCondition),
    variants: recordsOf(multivariate.variants).map(readVariant),
    payloads: isRecord(raw.payloads) ? raw.payloads : {},
    groupTypeIndex: typeof index === 'number' ? index : null,
  }
}

const readCondition = (group: JsonObject): Condition => ({
  ...group,
  properties: recordsOf(group.properties).map(readProperty),
  rollout_percentage: typeof group.rollout_percentage === 'number' ? group.rollout_percentage : null,
})

const types = ['cohort', 'flag', 'group', 'behavioral'] as const

function readProperty(property: JsonObject): Property {
  const type = types.find(one => one === property.type) ?? 'person'
  const usual = { cohort: 'in', flag: 'flag_evaluates_to', behavioral: 'gte', person: 'exact', group: 'exact' }[type]
  return {
    ...property,
    type,
    key: String(property.key ?? ''),
    operator: typeof property.operator === 'string' && property.operator !== '' ? property.operator : usual,
    value: property.value,
  }
}

const readVariant = (variant: JsonObject): Variant => ({
  ...variant,
  key: String(variant.key ?? ''),
  rollout_percentage: typeof variant.rollout_percentage === 'number' ? variant.rollout_percentage : 0,
})

/** The inverse of `readFilters`. */
export function writeFilters({ raw, groups, variants, payloads, groupTypeIndex }: Filters): Record<string, unknown> {
  const { multivariate, payloads: _payloads, aggregation_group_type_index: index, ...rest } = raw
  const oldMultivariate = isRecord(multivariate) ? multivariate : {}
  return {
    ...rest,
    groups,
    ...(variants.length > 0
      ? { multivariate: { ...oldMultivariate, variants } }
      : multivariate === null && { multivariate }),
    ...((Object.keys(payloads).length > 0 || isRecord(raw.payloads)) && { payloads }),
    ...((groupTypeIndex !== null || index === null) && { aggregation_group_type_index: groupTypeIndex }),
  }
}

/** The type that OpenFeature resolves the flag to; without one, that of its own value. */
export function withValueType(filters: Filters, type: string): Filters {
  const { return_type: _type, ...raw } = filters.raw
  return { ...filters, raw: type === '' ? raw : { ...raw, return_type: type } }
}
