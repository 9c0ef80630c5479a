import {
  type CompiledFlag,
  type OpenFeatureReason,
  type Outcome,
  openFeatureResult,
  parsePayload,
  type ReasonCode,
  type Subject,
  truncatedId,
  withDeviceId,
} from '@halyard/engine'

/** The person, and the groups, that flags are evaluated for. */
export interface EvaluationContext {
  readonly distinctId: string
  readonly personProperties?: Readonly<Record<string, unknown>>
  /** The key of each group by the name of its type. */
  readonly groups?: Readonly<Record<string, string | number>>
  readonly groupProperties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly deviceId?: string
  readonly anonDistinctId?: string
  /**
   * Signed values of flags for this request: its header `X-Halyard-Overrides`. Only the server can check a signature, so it is asked; where
   * it does not accept them, or is unavailable, they are ignored.
   */
  readonly overrides?: string | undefined
}

/** Reasons of the engine, and those of a client that has no value. */
export type EvaluationReasonCode =
  | ReasonCode
  | 'flag_not_found'
  | 'needs_person'
  | 'not_ready'
  | 'targeting_key_missing'

export interface EvaluationReason {
  readonly code: EvaluationReasonCode
  readonly conditionIndex: number | null
  readonly description: string
}

/** The result of a flag for one context. */
export interface Evaluation {
  readonly key: string
  /** The variant, or whether the flag is on; undefined when the flag could not be evaluated. */
  readonly value: boolean | string | undefined
  readonly variant: string | null
  /** The payload as JSON text, as it is stored. */
  readonly payloadText: string | null
  /** The parsed payload; undefined when there is none. */
  readonly payload: unknown
  readonly reason: EvaluationReason
  /** Where the flag was evaluated. */
  readonly source: 'local' | 'server' | 'none'
  readonly flagId: number | undefined
  readonly version: number | undefined
  /** The same in the terms of OpenFeature. Without `value`, the default in the caller's code applies. */
  readonly openFeature: {
    readonly value?: unknown
    readonly variant?: string
    readonly reason: OpenFeatureReason | 'ERROR'
  }
}

export function evaluationOf(flag: CompiledFlag, outcome: Outcome, source: 'local' | 'server'): Evaluation {
  const { value, variant, payload, reason, failed } = outcome
  return {
    key: flag.key,
    value: failed ? undefined : value,
    variant,
    payloadText: payload,
    payload: payload === null ? undefined : parsePayload(payload),
    reason,
    source,
    flagId: flag.id,
    version: flag.version ?? 1,
    openFeature: failed ? { reason: 'ERROR' } : openFeatureResult(flag, outcome),
  }
}

const descriptions = {
  flag_not_found: 'There is no flag with this key',
  needs_person: 'The value depends on a person that only the server has stored',
  not_ready: 'The definitions have not arrived yet',
  targeting_key_missing: 'The context has no distinct id',
} as const satisfies Partial<Record<EvaluationReasonCode, string>>

export function withoutValue(key: string, code: keyof typeof descriptions, flag?: CompiledFlag): Evaluation {
  return {
    key,
    value: undefined,
    variant: null,
    payloadText: null,
    payload: undefined,
    reason: { code, conditionIndex: null, description: descriptions[code] },
    source: 'none',
    flagId: flag?.id,
    version: flag?.version,
    openFeature: { reason: 'ERROR' },
  }
}

const overridesPattern = /^(?:ho1|unsigned)\.[\w.-]{1,4100}$/

/** Undefined for text that no server would accept. */
export function overridesOf(context: EvaluationContext): string | undefined {
  const { overrides } = context ?? {}
  return typeof overrides === 'string' && overridesPattern.test(overrides) ? overrides : undefined
}

/** Undefined without a distinct id. Only known fields are read, and never from a prototype. */
export function subjectOf(context: EvaluationContext): Subject | undefined {
  const { distinctId, personProperties, groups, groupProperties, deviceId, anonDistinctId } = context ?? {}
  if (typeof distinctId !== 'string' && typeof distinctId !== 'number') return undefined
  const device = idOf(deviceId)
  const anonymous = idOf(anonDistinctId)
  return {
    distinctId: truncatedId(String(distinctId)),
    personProperties: withDeviceId(recordOf(personProperties), device),
    groups: recordOf(groups) as Record<string, string | number>,
    groupProperties: recordOf(groupProperties) as Record<string, Record<string, unknown>>,
    ...(device !== undefined && { deviceId: device }),
    ...(anonymous !== undefined && { anonDistinctId: anonymous }),
  }
}

const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? truncatedId(value) : undefined

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
