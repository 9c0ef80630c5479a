import { truncatedId, withDeviceId } from '@halyard/engine'
import { type Headers, type Runtime, runtimeOf } from '../request-runtime.ts'

export type Properties = Readonly<Record<string, unknown>>

/** The parsed body of an evaluation request, whose field names differ between SDKs. */
export interface EvaluationRequest {
  readonly token: string | undefined
  readonly distinctId: string | undefined
  readonly personProperties: Properties
  readonly groups: Readonly<Record<string, string | number>>
  readonly groupProperties: Readonly<Record<string, Properties>>
  readonly anonDistinctId: string | undefined
  readonly deviceId: string | undefined
  /** Only these flags; undefined means all. */
  readonly keys: readonly string[] | undefined
  /** Only flags of these contexts, and flags without a context; empty means all. */
  readonly contexts: readonly string[]
  readonly runtime: Runtime | undefined
  /** The client requests its configuration and no flags. */
  readonly isWithoutFlags: boolean
}

const nothing: Record<string, never> = Object.freeze({})

/** Lenient where SDKs differ: a field of the wrong type counts as absent. */
export function readEvaluationRequest(body: unknown, headers: Headers): EvaluationRequest {
  const sent = propertiesOf(body)
  const sentProperties = propertiesOf(sent.person_properties ?? sent.$properties)
  const deviceId = filledIdOf(sent.$device_id ?? sent.device_id ?? sentProperties.$device_id)
  return {
    token: textOf(sent.token ?? sent.api_key ?? sent.$token),
    distinctId: idOf(sent.distinct_id ?? sent.$distinct_id),
    personProperties: withDeviceId(sentProperties, deviceId),
    groups: groupsOf(sent.groups ?? sent.$groups),
    groupProperties: propertiesOf(sent.group_properties) as Readonly<Record<string, Properties>>,
    anonDistinctId: filledIdOf(sent.$anon_distinct_id),
    deviceId,
    keys: textsOf(sent.flag_keys_to_evaluate ?? sent.flag_keys),
    contexts: textsOf(sent.evaluation_contexts ?? sent.evaluation_environments) ?? [],
    runtime: runtimeOf(sent.evaluation_runtime, headers),
    isWithoutFlags: sent.disable_flags === true || sent.disable_flags === 'true',
  }
}

/** PHP sends an empty list for an empty object. */
const propertiesOf = (value: unknown): Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Properties) : nothing

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? truncatedId(value) : undefined
}

const filledIdOf = (value: unknown): string | undefined => idOf(value) || undefined

function groupsOf(value: unknown): Readonly<Record<string, string | number>> {
  const sentGroups = propertiesOf(value)
  if (sentGroups === nothing) return nothing
  const keys = Object.entries(sentGroups).filter(([, key]) => typeof key === 'string' || typeof key === 'number')
  return Object.fromEntries(keys) as Record<string, string | number>
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
}
