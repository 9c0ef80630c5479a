import type { CompiledFlag, Outcome } from '@halyard/engine'
import type { Outcomes } from '../../evaluation/outcomes.ts'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'
import type { SerializedConfig } from './remote-config.ts'

/** How an evaluation is serialized: each generation of SDKs reads its own shape. */
export type ResponseShape = 'details' | 'values' | 'enabled_values' | 'enabled_keys'

/** The parts of a response besides the flags. */
export interface Envelope {
  /** The same as in the header `X-Request-Id`. */
  readonly requestId: string
  readonly evaluatedAt: number
  /** Something besides the evaluation failed, such as a lookup of stored properties. */
  readonly hasErrors: boolean
  /** Merged into the top level: the configuration of posthog-js. */
  readonly config?: SerializedConfig | undefined
  /** Whether the payloads are also sent as a map, for clients that read it there. */
  readonly hasPayloadMap?: boolean
}

/** The response as an object. The fast path writes the same bytes for the usual shape without creating one. */
export function serializeFlagsResponse(
  flags: readonly CompiledFlag[],
  outcomes: Outcomes,
  eligible: readonly number[],
  shape: ResponseShape,
  envelope: Envelope,
): Properties {
  const results = eligible.flatMap(index => {
    const outcome = flags[index]!.outcomes[outcomes.outcomeIndex(index)]
    return outcome === undefined ? [] : [[flags[index]!, outcome] as const]
  })
  const hasErrors = envelope.hasErrors || results.some(([, outcome]) => outcome.failed)
  return {
    errorsWhileComputingFlags: hasErrors,
    ...inShape[shape](results),
    ...(shape === 'details' && envelope.hasPayloadMap && { featureFlagPayloads: payloadsOf(results) }),
    requestId: envelope.requestId,
    evaluatedAt: envelope.evaluatedAt,
    ...envelope.config?.fields,
  }
}

type Results = readonly (readonly [CompiledFlag, Outcome])[]

const inShape: Record<ResponseShape, (results: Results) => Properties> = {
  details: results => ({ flags: keyed(results.map(([flag, outcome]) => [flag.key, flagDetail(flag, outcome)])) }),
  values: results => ({
    featureFlags: keyed(results.map(([flag, outcome]) => [flag.key, outcome.value])),
    featureFlagPayloads: payloadsOf(results),
  }),
  enabled_values: results => ({
    featureFlags: keyed(enabled(results).map(([flag, outcome]) => [flag.key, outcome.value])),
  }),
  enabled_keys: results => ({ featureFlags: enabled(results).map(([flag]) => flag.key) }),
}

const enabled = (results: Results): Results => results.filter(([, outcome]) => outcome.enabled)

const payloadsOf = (results: Results): Properties =>
  keyed(results.flatMap(([flag, outcome]) => (outcome.payload === null ? [] : [[flag.key, outcome.payload]])))

/** Unlike an assignment this also works for a flag that is called `__proto__`. */
const keyed = (pairs: readonly (readonly [string, unknown])[]): Properties => Object.fromEntries(pairs)

export function flagDetail(flag: CompiledFlag, outcome: Outcome): Properties {
  return {
    key: flag.key,
    enabled: outcome.enabled,
    variant: outcome.variant,
    reason: {
      code: outcome.reason.code,
      condition_index: outcome.reason.conditionIndex,
      description: outcome.reason.description,
    },
    metadata: {
      id: flag.id,
      version: flag.version ?? 1,
      description: null,
      payload: outcome.payload,
      has_experiment: flag.definition.hasExperiment ?? false,
    },
    ...(outcome.failed && { failed: true }),
  }
}
