import type { CompiledFlag } from '../compile/compiler.ts'
import { isRecord, own } from '../definition/json.ts'
import { hasPayloadValue, parsePayload, returnTypeOf, typeOfValue } from '../definition/return-type.ts'
import type { Outcome } from './outcome.ts'

/** The reasons of OpenFeature that an evaluation can have. */
export type OpenFeatureReason = 'STATIC' | 'DEFAULT' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED' | 'UNKNOWN'

/** An outcome in the terms of OpenFeature. Without `value`, the default in the caller's code applies. */
export interface OpenFeatureResult {
  /** JSON of the flag's return type. */
  readonly value?: unknown
  readonly variant?: string
  readonly reason: OpenFeatureReason
}

/** The same for OFREP and for providers that evaluate in process. */
export function openFeatureResult({ definition }: CompiledFlag, outcome: Outcome): OpenFeatureResult {
  const { filters } = definition
  const reason = reasonOf(filters, outcome)
  if (reason === 'DISABLED') return { reason }
  const variant = outcome.variant ?? (outcome.enabled ? 'on' : 'off')
  const value = hasPayloadValue(filters) ? payloadValue(filters, outcome) : ownValue(filters, outcome)
  return value === undefined ? { variant, reason } : { value, variant, reason }
}

/** A flag with variants that is off has no value of its own type. A holdout withholds a boolean flag, and its variant says so. */
function ownValue(filters: unknown, { enabled, value, reason }: Outcome): unknown {
  if (returnTypeOf(filters) !== 'boolean') return enabled ? value : undefined
  return reason.code === 'holdout_condition_value' ? false : value
}

function payloadValue(filters: unknown, { payload }: Outcome): unknown {
  const value = payload === null ? undefined : parsePayload(payload)
  return typeOfValue(value) === returnTypeOf(filters) ? value : undefined
}

function reasonOf(filters: unknown, { reason, variant }: Outcome): OpenFeatureReason {
  if (reason.code === 'flag_disabled') return 'DISABLED'
  if (reason.code === 'out_of_rollout_bound' || reason.code === 'holdout_condition_value') return 'SPLIT'
  if (reason.code === 'no_condition_match') return 'DEFAULT'
  // An override is for some requests: clients must not cache it as static.
  if (reason.code === 'super_condition_value' || reason.code === 'override') return 'TARGETING_MATCH'
  if (reason.code !== 'condition_match') return 'UNKNOWN'
  const condition = conditionAt(filters, reason.conditionIndex)
  const isPartial = typeof condition.rollout_percentage === 'number' && condition.rollout_percentage < 100
  const hasSplit = condition.split !== undefined && condition.split !== null
  if (isPartial || hasSplit || (variant !== null && condition.variant !== variant)) return 'SPLIT'
  if (Array.isArray(condition.properties) && condition.properties.length > 0) return 'TARGETING_MATCH'
  // Clients may cache what is static for every context: a condition after others applies to some contexts only.
  return reason.conditionIndex === 0 ? 'STATIC' : 'DEFAULT'
}

function conditionAt(filters: unknown, index: number | null): Record<string, unknown> {
  const groups = isRecord(filters) ? own(filters, 'groups') : undefined
  const condition: unknown = Array.isArray(groups) && index !== null ? groups[index] : undefined
  return isRecord(condition) ? condition : {}
}
