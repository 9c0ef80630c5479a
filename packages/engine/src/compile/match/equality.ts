import { valueDepthMax } from '../../definition/json.ts'
import { FALSE, type Ternary, ternaryOf, UNKNOWN_FALSE } from '../../evaluate/ternary.ts'
import { canonicalText, isWellFormed } from './canonical-text.ts'

/**
 * Case-insensitive equality; a list matches any of its items.
 *
 * In version 1 a boolean filter value (`true`, `"False"`, a list of only these) compares truthiness instead, so that
 * `false` equals everything that is not true. In version 2 only the empty list still does.
 */
export function exactTest(target: unknown, version: 1 | 2): (value: unknown) => Ternary {
  const readsAsTruth = isTruthValue(target, 0)
  const isEmptyList = Array.isArray(target) && target.length === 0
  if (isEmptyList || (version === 1 && readsAsTruth)) return truthfulnessTest(isTruthful(target, 0))
  const test = Array.isArray(target) ? anyOfTest(target) : oneTest(target)
  if (!readsAsTruth) return test
  return value => (typeof value === 'number' ? (Number.isFinite(value) ? FALSE : UNKNOWN_FALSE) : test(value))
}

function truthfulnessTest(wanted: boolean): (value: unknown) => Ternary {
  return value => ternaryOf(isTruthful(value, 0) === wanted, isCertainJson(value))
}

/** Integers are certain here, since only their truthiness counts. */
function isCertainJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'boolean' || canonicalText(withoutWholeNumbers(value, 0)).certain
}

function withoutWholeNumbers(value: unknown, depth: number): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? 0.5 : value
  if (typeof value !== 'object' || value === null || depth > valueDepthMax) return value
  if (Array.isArray(value)) return value.map(item => withoutWholeNumbers(item, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutWholeNumbers(item, depth + 1)]))
}

function oneTest(target: unknown): (value: unknown) => Ternary {
  if (target === undefined) return () => UNKNOWN_FALSE
  const wanted = canonicalText(target)
  const wantedText = wanted.text.toLowerCase()
  return value => {
    if (typeof value === 'string') {
      return ternaryOf(value.toLowerCase() === wantedText, wanted.certain && isWellFormed(value))
    }
    const { text, certain } = canonicalText(value)
    return ternaryOf(text.toLowerCase() === wantedText, certain && wanted.certain)
  }
}

/**
 * PostHog SDKs compare the items in order and decline at the first one without a canonical form, unless an earlier
 * item has matched.
 */
function anyOfTest(targets: readonly unknown[]): (value: unknown) => Ternary {
  const positions = new Map<string, number>()
  let firstUncertain = targets.length
  for (const [position, target] of targets.entries()) {
    const { text, certain } = canonicalText(target)
    if (!certain && firstUncertain === targets.length) firstUncertain = position
    const lowered = text.toLowerCase()
    if (!positions.has(lowered)) positions.set(lowered, position)
  }
  const allCertain = firstUncertain === targets.length
  return value => {
    const { text, certain } =
      typeof value === 'string' ? { text: value, certain: isWellFormed(value) } : canonicalText(value)
    const position = positions.get(text.toLowerCase())
    if (position === undefined) return ternaryOf(false, certain && allCertain)
    return ternaryOf(true, certain && position < firstUncertain)
  }
}

function isTruthValue(value: unknown, depth: number): boolean {
  if (typeof value === 'boolean') return true
  if (typeof value === 'string') return /^(true|false)$/i.test(value)
  return Array.isArray(value) && depth < valueDepthMax && value.every(item => isTruthValue(item, depth + 1))
}

function isTruthful(value: unknown, depth: number): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return value.length === 4 && value.toLowerCase() === 'true'
  return Array.isArray(value) && depth < valueDepthMax && value.every(item => isTruthful(item, depth + 1))
}
