import type { CompiledFlag, Outcome } from '@halyard/engine'
import type { Flag } from '../../features/flags/flag.ts'
import { isMultivariant } from '../../features/flags/flag.ts'

type OfrepReason = 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED' | 'UNKNOWN'

/** One flag in the OFREP shape. */
export function ofrepFlag(flag: Flag, compiled: CompiledFlag, outcome: Outcome): Record<string, unknown> {
  const { key } = flag
  if (outcome.failed) {
    return { key, errorCode: 'GENERAL', errorDetails: `${outcome.reason.description}.` }
  }
  const reason = ofrepReason(flag, outcome)
  return {
    key,
    ...(reason !== 'DISABLED' && valueAndVariant(flag, outcome)),
    reason,
    metadata: {
      flagId: flag.id,
      version: compiled.version ?? 1,
      reasonCode: outcome.reason.code,
      ...(outcome.payload !== null && { payload: outcome.payload }),
    },
  }
}

/** A flag with variants that is off has no value of its type; clients then use the default in their code. */
function valueAndVariant(flag: Flag, { enabled, value, variant }: Outcome): Record<string, unknown> {
  const hasValue = enabled || !isMultivariant(flag.filters)
  return { ...(hasValue && { value }), variant: variant ?? (enabled ? 'on' : 'off') }
}

export function ofrepReason(flag: Flag, { enabled, reason, variant }: Outcome): OfrepReason {
  if (reason.code === 'flag_disabled') return 'DISABLED'
  if (reason.code === 'out_of_rollout_bound' || reason.code === 'holdout_condition_value') return 'SPLIT'
  if (reason.code === 'super_condition_value') return 'TARGETING_MATCH'
  if (!enabled) return 'UNKNOWN'
  const condition = conditionAt(flag, reason.conditionIndex)
  const isPartial = typeof condition?.rollout_percentage === 'number' && condition.rollout_percentage < 100
  if (isPartial || (variant !== null && condition?.variant !== variant)) return 'SPLIT'
  return Array.isArray(condition?.properties) && condition.properties.length > 0 ? 'TARGETING_MATCH' : 'STATIC'
}

interface Condition {
  readonly properties?: unknown
  readonly rollout_percentage?: unknown
  readonly variant?: unknown
}

function conditionAt({ filters }: Flag, index: number | null): Condition | undefined {
  const { groups } = filters as { groups?: unknown }
  const condition: unknown = Array.isArray(groups) && index !== null ? groups[index] : undefined
  return typeof condition === 'object' && condition !== null ? condition : undefined
}
