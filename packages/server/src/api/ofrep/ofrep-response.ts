import { type CompiledFlag, type Outcome, openFeatureResult } from '@halyard/engine'

/** One flag in the OFREP shape. */
export function ofrepFlag(flag: CompiledFlag, outcome: Outcome): Record<string, unknown> {
  const { id, key, version = 1 } = flag
  if (outcome.failed) {
    return { key, errorCode: 'GENERAL', errorDetails: `${outcome.reason.description}.` }
  }
  const result = openFeatureResult(flag, outcome)
  return {
    key,
    ...result,
    // OFREP's list of reasons has no DEFAULT; clients see it by `reasonCode`.
    ...(result.reason === 'DEFAULT' && { reason: 'UNKNOWN' }),
    metadata: {
      flagId: id,
      version,
      reasonCode: outcome.reason.code,
      ...(outcome.payload !== null && { payload: outcome.payload }),
    },
  }
}
