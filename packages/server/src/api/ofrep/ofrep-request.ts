import { truncatedId } from '@halyard/engine'
import type { Runtime } from '../../evaluation/request-runtime.ts'
import type { EvaluationRequest, Properties } from '../../evaluation/subjects/evaluation-request.ts'
import type { IdentifiedRequest } from '../../evaluation/subjects/gather-subject.ts'

export type OfrepErrorCode = 'PARSE_ERROR' | 'TARGETING_KEY_MISSING' | 'INVALID_CONTEXT' | 'FLAG_NOT_FOUND' | 'GENERAL'

/** An error response in the shape of OFREP. */
export class OfrepError extends Error {
  readonly status: number
  readonly code: OfrepErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: OfrepErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'OfrepError'
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/**
 * The targeting key is the distinct id; `groups` and `groupProperties` have the same meaning as in PostHog, `$device_id` and `$anon_distinct_id`
 * as well; everything else describes the person. Raises OfrepError.
 */
export function readOfrepRequest(body: unknown, runtime: Runtime): IdentifiedRequest {
  const context = isObject(body) ? body.context : undefined
  if (!isObject(context)) throw new OfrepError(400, 'INVALID_CONTEXT', 'Send a JSON object with an object "context".')
  const { targetingKey, groups, groupProperties, ...personProperties } = context
  const distinctId = typeof targetingKey === 'number' ? String(targetingKey) : targetingKey
  if (typeof distinctId !== 'string' || distinctId === '') {
    throw new OfrepError(400, 'TARGETING_KEY_MISSING', 'The context has no targetingKey.')
  }
  return {
    token: undefined,
    distinctId: truncatedId(distinctId),
    personProperties,
    groups: groupsOf(groups),
    groupProperties: (isObject(groupProperties) ? groupProperties : {}) as Readonly<Record<string, Properties>>,
    anonDistinctId: idOf(personProperties.$anon_distinct_id),
    deviceId: idOf(personProperties.$device_id),
    keys: undefined,
    contexts: [],
    runtime,
    isWithoutFlags: false,
  } satisfies EvaluationRequest
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? truncatedId(value) : undefined

function groupsOf(value: unknown): Readonly<Record<string, string | number>> {
  if (!isObject(value)) return {}
  const keys = Object.entries(value).filter(([, key]) => typeof key === 'string' || typeof key === 'number')
  return Object.fromEntries(keys) as Record<string, string | number>
}
