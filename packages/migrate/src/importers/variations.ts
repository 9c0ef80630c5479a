import type { FlagFilters, Variant } from '../model/model.ts'

/** The values of a flag as variants and payloads. A value is the payload where there is one, otherwise the variant key. */
export interface Variations {
  /** For each value, in the order given. */
  readonly keys: readonly string[]
  /** All people get the variant with the index `usual` where a condition names none. */
  filters(usual: number): Pick<FlagFilters, 'multivariate' | 'payloads' | 'return_type'>
}

const keyCharactersMax = 200

/** A text is a variant key as it is; numbers and JSON get a key and a payload. Equal values share a variant. */
export function variationsOf(values: readonly { readonly value: unknown; readonly name?: string }[]): Variations {
  const variants = new Map<string, { readonly name: string | undefined; readonly payload: string | undefined }>()
  const byValue = new Map<string, string>()
  const keys = values.map(({ value, name }, index) => {
    const json = JSON.stringify(value ?? null)
    const sharedKey = byValue.get(json)
    if (sharedKey !== undefined) return sharedKey
    const preferred = preferredKey(value, name) ?? `variation-${index + 1}`
    const key = variants.has(preferred) ? `${preferred}-${index + 1}` : preferred
    variants.set(key, { name, payload: key === value ? undefined : json })
    byValue.set(json, key)
    return key
  })
  return {
    keys,
    filters: usual => ({
      multivariate: {
        variants: [...variants].map(
          ([key, { name }]): Variant => ({
            key,
            ...(name !== undefined && name !== '' && { name }),
            rollout_percentage: key === (keys[usual] ?? keys[0]) ? 100 : 0,
          }),
        ),
      },
      payloads: Object.fromEntries(
        [...variants].flatMap(([key, { payload }]) => (payload === undefined ? [] : [[key, payload]])),
      ),
      ...typeOf(values),
    }),
  }
}

/** Of values that are payloads: with their type, OpenFeature gets them instead of the variants' keys. */
function typeOf(values: readonly { readonly value: unknown }[]): Pick<FlagFilters, 'return_type'> {
  const [type, ...others] = new Set(values.map(({ value }) => (value === null ? 'null' : typeof value)))
  const isTyped = others.length === 0 && (type === 'number' || type === 'boolean' || type === 'object')
  return isTyped ? { return_type: type } : {}
}

function preferredKey(value: unknown, name: string | undefined): string | undefined {
  if (typeof value === 'string' && isKey(value)) return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return name !== undefined && isKey(name) ? name : undefined
}

const isKey = (text: string): boolean => text.trim() === text && text !== '' && text.length <= keyCharactersMax
