import { isDeepStrictEqual } from 'node:util'
import type { FreeObject } from '../../../domain/flag.ts'
import { isObject } from './ramp-condition.ts'

/** Whether a change request for a schedule contains this payload, or its reversal when it is a pair. */
export function isApprovedPayload(
  payload: FreeObject,
  content: { readonly payload?: unknown; readonly pair?: unknown },
): boolean {
  if (!isObject(content.payload)) return false
  const [own, approved] = [withoutPosition(payload), withoutPosition(content.payload)]
  if (isDeepStrictEqual(own, approved)) return true
  const isPair = content.pair !== null && content.pair !== undefined
  return isPair && isDeepStrictEqual(own, { ...approved, value: !approved.value })
}

/** The condition of a ramp is found by its content, so its position may change between request and plan. */
function withoutPosition({ operation, value }: FreeObject): FreeObject {
  if (operation !== 'ramp' || !isObject(value)) return { operation, value }
  const { condition_index: _position, ...rest } = value
  return { operation, value: rest }
}
