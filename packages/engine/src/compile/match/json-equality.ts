import { type JsonRecord, valueDepthMax } from '../../definition/json.ts'

/** Equal texts for equal JSON values: types differ, the order of keys does not. Undefined when nested too deeply. */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth > valueDepthMax) return undefined
  const parts = Array.isArray(value)
    ? value.map(item => canonicalJson(item, depth + 1))
    : Object.keys(value)
        .sort()
        .map(key => `${JSON.stringify(key)}:${canonicalJson((value as JsonRecord)[key], depth + 1)}`)
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`
}
