import type { ManifestFlag } from '@halyard/contract'
import { parsePayload, returnTypeOf, typeOfValue } from '@halyard/engine'
import type { Flag, FlagPatch, FreeObject } from '../../domain/flag.ts'
import { enabledForEveryone } from '../../domain/flag.ts'

/** A flag as the OpenFeature CLI sees it. */
export function manifestFlag({ key, name, filters }: Pick<Flag, 'key' | 'name' | 'filters'>): ManifestFlag {
  return {
    key,
    name: key,
    type: manifestType(filters),
    description: name === '' ? null : name,
    defaultValue: defaultOf(filters),
  }
}

/** The manifest has no numbers but integers; the CLI reads `float` as well. */
export function manifestType(filters: FreeObject): string {
  const type = returnTypeOf(filters)
  if (type !== 'number') return type
  const numbers = [filters.default_value, ...payloadsOf(filters)].filter(value => typeof value === 'number')
  return numbers.every(Number.isInteger) ? 'integer' : 'float'
}

/** The declared default, or the one that a reader of the code would expect. */
function defaultOf(filters: FreeObject): unknown {
  const type = returnTypeOf(filters)
  if (typeOfValue(filters.default_value) === type) return filters.default_value
  if (type === 'string') return variantKeysOf(filters)[0] ?? ''
  return type === 'boolean' ? false : type === 'number' ? 0 : {}
}

const isObject = (value: unknown): value is FreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function variantKeysOf({ multivariate }: FreeObject): string[] {
  const variants = isObject(multivariate) && Array.isArray(multivariate.variants) ? multivariate.variants : []
  return variants.flatMap(variant => (isObject(variant) && typeof variant.key === 'string' ? [variant.key] : []))
}

export function payloadsOf({ payloads }: FreeObject): unknown[] {
  if (!isObject(payloads)) return []
  return Object.values(payloads).flatMap(payload => {
    if (payload === null || payload === undefined || payload === '') return []
    return [typeof payload === 'string' ? parsePayload(payload) : payload]
  })
}

/** Whether the value has the type of the manifest. */
export function fitsType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return typeOfValue(value) === type && !Array.isArray(value)
}

/** A new flag: disabled, so that the default in the code applies; once enabled, it has the default as its value. */
export function flagFromManifest(type: string, defaultValue: unknown): FlagPatch {
  const isBoolean = type === 'boolean'
  const filters = {
    ...enabledForEveryone,
    ...(!isBoolean && {
      payloads: { true: JSON.stringify(defaultValue) },
      return_type: type === 'integer' ? 'number' : type,
    }),
    default_value: defaultValue,
  }
  return { active: false, filters }
}
