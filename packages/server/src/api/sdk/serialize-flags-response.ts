import type { CompiledFlag, Outcome } from '@halyard/engine'
import type { Outcomes } from '../../evaluation/outcomes.ts'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'
import type { ToldConfig } from './remote-config.ts'
import type { RequestId } from './request-ids.ts'

/** How an evaluation is told: each generation of client libraries reads its own shape. */
export type AnswerShape = 'details' | 'values' | 'enabled_values' | 'enabled_keys'

/** What is told beside the flags. */
export interface Envelope {
  /** As text in bytes. */
  readonly requestId: RequestId
  readonly evaluatedAt: number
  /** Something beside the flags themselves went wrong, as a look-up of stored properties. */
  readonly hasErrors: boolean
  /** Merged into the top level: the configuration of the browser library. */
  readonly config?: ToldConfig | undefined
  /** Whether the payloads are told as a map as well, for calls that read it there. */
  readonly hasPayloadMap?: boolean
}

/** An evaluation as an object. `fast-answer.ts` gives the same bytes for the usual shape without making one. */
export function serializeFlagsResponse(
  flags: readonly CompiledFlag[],
  outcomes: Outcomes,
  eligible: readonly number[],
  shape: AnswerShape,
  envelope: Envelope,
): Properties {
  const told = eligible.flatMap(index => {
    const outcome = flags[index]!.outcomes[outcomes.outcomeIndex(index)]
    return outcome === undefined ? [] : [[flags[index]!, outcome] as const]
  })
  const hasErrors = envelope.hasErrors || told.some(([, outcome]) => outcome.failed)
  return {
    errorsWhileComputingFlags: hasErrors,
    ...inShape[shape](told),
    ...(shape === 'details' && envelope.hasPayloadMap && { featureFlagPayloads: payloadsOf(told) }),
    requestId: envelope.requestId.toString('latin1'),
    evaluatedAt: envelope.evaluatedAt,
    ...envelope.config?.fields,
  }
}

type Told = readonly (readonly [CompiledFlag, Outcome])[]

const inShape: Record<AnswerShape, (told: Told) => Properties> = {
  details: told => ({ flags: keyed(told.map(([flag, outcome]) => [flag.key, flagDetail(flag, outcome)])) }),
  values: told => ({
    featureFlags: keyed(told.map(([flag, outcome]) => [flag.key, outcome.value])),
    featureFlagPayloads: payloadsOf(told),
  }),
  enabled_values: told => ({ featureFlags: keyed(enabled(told).map(([flag, outcome]) => [flag.key, outcome.value])) }),
  enabled_keys: told => ({ featureFlags: enabled(told).map(([flag]) => flag.key) }),
}

const enabled = (told: Told): Told => told.filter(([, outcome]) => outcome.enabled)

const payloadsOf = (told: Told): Properties =>
  keyed(told.flatMap(([flag, outcome]) => (outcome.payload === null ? [] : [[flag.key, outcome.payload]])))

/** Unlike an assignment this also keeps a flag that is called `__proto__`. */
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
