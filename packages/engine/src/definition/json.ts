/** Access to untrusted JSON: never reads prototypes, never overflows the stack. */

export type JsonRecord = Readonly<Record<string, unknown>>

/** Values nested deeper than this are not compared; well below a stack overflow. */
export const valueDepthMax = 500

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of an own property, or undefined. */
export function own(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

export function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthMax === 0) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (isDeeperThan(value[index], depthMax - 1)) return true
    return false
  }
  const record = value as JsonRecord
  for (const key in record) if (isDeeperThan(record[key], depthMax - 1)) return true
  return false
}

/** `String(value)` that never throws. Arrays become their items, joined by commas. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return String(value)
  } catch {
    return ''
  }
}
