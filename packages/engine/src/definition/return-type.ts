import type { Report } from './issue.ts'
import { isRecord, type JsonRecord, own } from './json.ts'

export const returnTypes = ['boolean', 'string', 'number', 'object'] as const
export type ReturnType = (typeof returnTypes)[number]

/**
 * The type of the flag's value for OpenFeature. A flag has a value of its own: a variant's key, or whether it is on. When `return_type`
 * names another type, the payload is the value.
 */
export function returnTypeOf(filters: unknown): ReturnType {
  const declared = isRecord(filters) ? own(filters, 'return_type') : undefined
  return isReturnType(declared) ? declared : ownTypeOf(filters)
}

/** Whether the value is the payload. */
export const hasPayloadValue = (filters: unknown): boolean => returnTypeOf(filters) !== ownTypeOf(filters)

/** The type without `return_type`. */
function ownTypeOf(filters: unknown): ReturnType {
  const multivariate = isRecord(filters) ? own(filters, 'multivariate') : undefined
  const variants = isRecord(multivariate) ? own(multivariate, 'variants') : undefined
  return Array.isArray(variants) && variants.length > 0 ? 'string' : 'boolean'
}

const isReturnType = (value: unknown): value is ReturnType => (returnTypes as readonly unknown[]).includes(value)

/** Undefined for null. Arrays are objects. */
export function typeOfValue(value: unknown): ReturnType | undefined {
  return value !== null && isReturnType(typeof value) ? (typeof value as ReturnType) : undefined
}

/** A payload that is not JSON is text. */
export function parsePayload(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}

/** Reports a return type that payloads or the default value do not have. */
export function checkReturnType(filters: JsonRecord, payloads: ReadonlyMap<string, string>, report: Report): void {
  const declared = own(filters, 'return_type') ?? undefined
  if (declared !== undefined && !isReturnType(declared)) {
    report('invalid_value', 'filters.return_type', '`return_type` must be boolean, string, number or object.')
    return
  }
  const type = returnTypeOf(filters)
  const fallback = own(filters, 'default_value') ?? undefined
  if (fallback !== undefined && typeOfValue(fallback) !== type) {
    report('wrong_type', 'filters.default_value', `The default value must be of the type ${type}.`)
  }
  if (!hasPayloadValue(filters)) return
  for (const [key, payload] of payloads) {
    if (typeOfValue(parsePayload(payload)) === type) continue
    report('wrong_type', `filters.payloads.${key}`, `The payload must be of the type ${type}, the \`return_type\`.`)
  }
}
