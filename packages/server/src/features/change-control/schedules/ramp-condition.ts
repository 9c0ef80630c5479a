import type { FreeObject } from '../../../domain/flag.ts'

/**
 * Conditions have no id, and their position changes when others are added, removed or moved. A ramp therefore stores
 * what its condition matches: filters and variant, without the rollout that the ramp itself changes.
 */
export interface RampTarget {
  readonly conditionIndex: number
  /** Undefined for ramps that were planned before it was stored; they go by position. */
  readonly identity: string | undefined
}

export const rampBroken = 'The condition that this ramp raises was changed or removed.'

export function conditionIdentity(condition: FreeObject): string {
  const { properties = [], variant = null } = condition
  return canonicalJson({ properties, variant })
}

/** The position of the ramp's condition now; undefined when there is none, or more than one that it could be. */
export function findRampCondition(groups: readonly unknown[], target: RampTarget): number | undefined {
  const { conditionIndex, identity } = target
  if (identity === undefined) return isObject(groups[conditionIndex]) ? conditionIndex : undefined
  const equal = groups.flatMap((group, index) =>
    isObject(group) && conditionIdentity(group) === identity ? [index] : [],
  )
  return equal.includes(conditionIndex) ? conditionIndex : equal.length === 1 ? equal[0] : undefined
}

/** The same text for the same content, whatever the order of the keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

export const isObject = (value: unknown): value is FreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
