import { hasPayloadValue, type OverrideDefinition, returnTypeOf, typeOfValue } from '@halyard/engine'
import type { Flag, FreeObject } from '../../domain/flag.ts'
import { type ServedProject, withFlags } from './served-project.ts'

/** A value for everyone, for development. */
export interface FlagOverride {
  /** Whether the flag is on, or the key of a variant. */
  readonly value: boolean | string
  /** Any JSON. Without one, the flag's own payload for the value applies. */
  readonly payload?: unknown
}

export type FlagOverrides = ReadonlyMap<string, FlagOverride>

/** The forms that people write: `true`, `"variant"` or `{value, payload}`. Undefined for anything else. */
export function readOverride(input: unknown): FlagOverride | undefined {
  if (typeof input === 'boolean' || typeof input === 'string') return { value: input }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined
  const { value, payload, ...others } = input as Record<string, unknown>
  if ((typeof value !== 'boolean' && typeof value !== 'string') || Object.keys(others).length > 0) return undefined
  return payload === undefined ? { value } : { value, payload }
}

/** One sentence when the flag cannot have this value. */
export function overrideProblem(flag: Pick<Flag, 'key' | 'filters'>, { value, payload }: FlagOverride) {
  const { key, filters } = flag
  const variants = variantsOf(filters)
  const choices = variants.map(variant => `"${variant}"`).join(', ')
  if (value === true && variants.length > 0) return `The flag "${key}" has variants: use one of ${choices}, or false.`
  if (typeof value === 'string' && variants.length === 0) return `The flag "${key}" has no variants: use true or false.`
  if (typeof value === 'string' && !variants.includes(value))
    return `The flag "${key}" has no variant "${value}". Its variants are ${choices}.`
  const type = returnTypeOf(filters)
  if (payload !== undefined && hasPayloadValue(filters) && typeOfValue(payload) !== type)
    return `The payload of the flag "${key}" must be of the type ${type}.`
  return undefined
}

/** The flag with this value for everyone, also where SDKs evaluate the filters themselves. */
export function overriddenFlag<F extends Pick<Flag, 'filters' | 'override'>>(flag: F, requested: FlagOverride): F {
  const override = definitionOf(flag.filters, requested)
  return {
    ...flag,
    active: true,
    ensureExperienceContinuity: false,
    filters: constantFilters(flag.filters, override),
    override,
  }
}

/** Flags that do not exist are left out. */
export function withOverrides(served: ServedProject, overrides: FlagOverrides): ServedProject {
  const flags = served.live.flatMap(flag => {
    const override = overrides.get(flag.key)
    return override === undefined ? [] : [overriddenFlag(flag, override)]
  })
  const ids = flags.map(({ id }) => id)
  return flags.length === 0 ? served : withFlags(served, ids, flags)
}

function definitionOf(filters: FreeObject, { value, payload }: FlagOverride): OverrideDefinition {
  if (value === false || payload === null) return { value, payload: null }
  return { value, payload: payload === undefined ? ownPayload(filters, String(value)) : JSON.stringify(payload) }
}

function ownPayload({ payloads }: FreeObject, name: string): string | null {
  const own: unknown = isObject(payloads) && Object.hasOwn(payloads, name) ? payloads[name] : null
  return own === null || typeof own === 'string' ? own : JSON.stringify(own)
}

/** Variants and types stay, and everything that decides is replaced by one condition. */
function constantFilters(filters: FreeObject, { value, payload }: OverrideDefinition): FreeObject {
  const { multivariate, return_type, default_value } = filters
  const condition = {
    properties: [],
    rollout_percentage: value === false ? 0 : 100,
    ...(typeof value === 'string' && { variant: value }),
  }
  return {
    groups: [condition],
    ...(multivariate !== undefined && { multivariate }),
    ...(return_type !== undefined && { return_type }),
    ...(default_value !== undefined && { default_value }),
    ...(payload !== null && { payloads: { [String(value)]: payload } }),
  }
}

/** Keys of the variants; empty for a flag that is on or off. */
export function variantsOf({ multivariate }: FreeObject): readonly string[] {
  const variants: unknown = isObject(multivariate) ? multivariate.variants : undefined
  if (!Array.isArray(variants)) return []
  return variants.flatMap((variant: unknown) =>
    isObject(variant) && typeof variant.key === 'string' ? [variant.key] : [],
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
