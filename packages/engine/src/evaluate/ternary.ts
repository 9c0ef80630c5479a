/**
 * The result of a filter: true, false, or unknown to PostHog SDKs.
 *
 * The server always has a result (bit 0). posthog-node, which evaluates the same definitions locally, may decline: a
 * property is missing, a number has no canonical form, an operator is not supported (UNKNOWN), or only the server has the
 * data (REMOTE). After a condition that it declines it may still match a later one, so the evaluator tracks the
 * uncertainty to return the same value.
 */
export type Ternary = number

export const FALSE = 0
export const TRUE = 1
/** The SDK declines the filter and continues. */
export const UNKNOWN = 2
export const UNKNOWN_FALSE = 2
export const UNKNOWN_TRUE = 3
/** The SDK declines the whole flag. */
export const REMOTE = 4
/** With UNKNOWN: the SDK continues, but declines when a later condition yields another value. */
export const REGEX = 8
/** Cannot be evaluated at all: an unknown or cyclic cohort, or a regular expression beyond the budget. */
export const FAILED = 16
/** Failed, after an UNKNOWN that lets the SDK continue. */
export const FAILED_AFTER_UNKNOWN = 17

export function isTrue(result: Ternary): boolean {
  return (result & 1) === 1 && result < FAILED
}

export function hasFailed(result: Ternary): boolean {
  return result >= FAILED
}

export function uncertaintyOf(result: Ternary): number {
  return result >= FAILED ? REMOTE : result & ~1
}

/** Combines uncertainty: the first one decides whether the SDK continues. */
export function joinUncertainty(first: number, second: number): number {
  if (first === 0) return second
  return first & UNKNOWN && second & UNKNOWN ? first | second : first
}

export function negate(result: Ternary): Ternary {
  return result >= FAILED ? result : result ^ 1
}

export function ternaryOf(answer: boolean, certain = true): Ternary {
  return (answer ? TRUE : FALSE) | (certain ? 0 : UNKNOWN)
}
