import { type CompiledFlag, type Outcome, openFeatureResult } from '@halyard/engine'

/** One flag in the OFREP shape. */
export function ofrepFlag(flag: CompiledFlag, outcome: Outcome): Record<string, unknown> {
  const { id, key, version = 1 } = flag
  if (outcome.failed) {
    return { key, errorCode: 'GENERAL', errorDetails: `${outcome.reason.description}.` }
  }
  return {
    key,
    ...openFeatureResult(flag, outcome),
    metadata: {
      flagId: id,
      version,
      reasonCode: outcome.reason.code,
      ...(outcome.payload !== null && { payload: outcome.payload }),
    },
  }
}
