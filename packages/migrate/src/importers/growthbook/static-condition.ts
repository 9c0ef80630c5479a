import { isRecord, listOf } from '../document.ts'

/** Whether a condition on another feature holds for one of its values; undefined when it is not a simple one. */
export function fitsCondition(value: unknown, condition: unknown): boolean | undefined {
  if (condition === undefined) return true
  if (!isRecord(condition)) return undefined
  const results = Object.entries(condition).map(([key, inner]) => (key === 'value' ? fits(value, inner) : undefined))
  return results.includes(undefined) ? undefined : results.every(Boolean)
}

function fits(value: unknown, condition: unknown): boolean | undefined {
  if (condition === null) return value === null
  if (typeof condition === 'boolean') return value !== null && Boolean(value) === condition
  if (typeof condition === 'string') return typeof value === 'object' ? undefined : String(value) === condition
  if (typeof condition === 'number') return typeof value === 'object' ? undefined : Number(value) === condition
  if (!isRecord(condition)) return undefined
  const results = Object.entries(condition).map(([operator, operand]) => {
    if (operator === '$eq') return value === operand
    if (operator === '$ne') return value !== operand
    if (operator === '$exists') return operand ? value !== null : value === null
    if (operator === '$in' && !Array.isArray(value)) return listOf(operand).includes(value)
    if (operator === '$nin' && !Array.isArray(value)) return !listOf(operand).includes(value)
    return undefined
  })
  return results.includes(undefined) ? undefined : results.every(Boolean)
}
