import type { Flag, FlagPatch, FreeObject } from '../../../domain/flag.ts'
import { invalid } from '../../../problem.ts'

/** One edit of a flag, instead of its whole `filters`. Each returns the patch for the flag as it is. */

export function setRollout(flag: Flag, index: number, percentage: number): FlagPatch {
  const groups = conditionsOf(flag)
  requireCondition(groups, index, 'condition_index')
  const changed = groups.map((group, n) => (n === index ? { ...group, rollout_percentage: percentage } : group))
  return { filters: { ...flag.filters, groups: changed } }
}

export function addCondition(flag: Flag, condition: FreeObject, before: number | undefined): FlagPatch {
  const groups = conditionsOf(flag)
  if (before !== undefined) requireCondition(groups, before, 'before')
  const at = before ?? groups.length
  return { filters: { ...flag.filters, groups: [...groups.slice(0, at), condition, ...groups.slice(at)] } }
}

export function removeCondition(flag: Flag, index: number): FlagPatch {
  const groups = conditionsOf(flag)
  requireCondition(groups, index, 'condition_index')
  return { filters: { ...flag.filters, groups: groups.filter((_, n) => n !== index) } }
}

/** The engine refuses percentages that are not numbers or do not add up to 100. */
export function setVariantSplit(flag: Flag, split: FreeObject): FlagPatch {
  const { multivariate } = flag.filters as { multivariate?: FreeObject | null }
  const variants = listOf(multivariate?.variants)
  const keys = variants.map(({ key }) => String(key))
  const unknown = Object.keys(split).find(key => !keys.includes(key))
  if (unknown !== undefined) throw invalid('variants', 'does_not_exist', `The flag has no variant "${unknown}".`)
  const missing = keys.find(key => !Object.hasOwn(split, key))
  if (missing !== undefined) throw invalid('variants', 'required', `variants must name "${missing}" as well.`)
  if (keys.length === 0) throw invalid('variants', 'invalid_input', 'The flag has no variants.')
  const changed = variants.map(variant => ({ ...variant, rollout_percentage: split[String(variant.key)] }))
  return { filters: { ...flag.filters, multivariate: { ...multivariate, variants: changed } } }
}

/** Null removes the payload. */
export function setPayload(flag: Flag, variant: string, payload: unknown): FlagPatch {
  const { payloads } = flag.filters as { payloads?: FreeObject | null }
  const { [variant]: _replaced, ...others } = payloads ?? {}
  return { filters: { ...flag.filters, payloads: payload === null ? others : { ...others, [variant]: payload } } }
}

const listOf = (value: unknown): readonly FreeObject[] => (Array.isArray(value) ? value : [])
const conditionsOf = (flag: Flag): readonly FreeObject[] => listOf(flag.filters.groups)

function requireCondition(groups: readonly unknown[], index: number, field: string): void {
  if (index >= groups.length) {
    throw invalid(field, 'does_not_exist', `The flag has no condition ${index}; it has ${groups.length}.`)
  }
}
