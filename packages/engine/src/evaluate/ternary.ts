/**
 * The answer of a filter, together with how sure a client library is of it.
 *
 * The server always has an answer (bit 0). posthog-node, evaluating the same definitions in the client's process, may
 * decline: because a property is missing, a number has no certain spelling, an operator is unknown to it (UNSURE), or
 * only the server has the data (REMOTE). A condition that it declines does not stop it from answering by a later one,
 * so the evaluator has to know about the doubt to give the same answer.
 */
export type Ternary = number

export const FALSE = 0
export const TRUE = 1
/** The client library declines the filter and goes on. */
export const UNKNOWN = 2
export const UNKNOWN_FALSE = 2
export const UNKNOWN_TRUE = 3
/** The client library declines the whole flag. */
export const REMOTE = 4
/** Together with UNSURE: it goes on, but takes no later condition's word that would give another value. */
export const REGEX = 8
/** Nobody can answer: the filter names a cohort that does not exist, or that contains itself. */
export const FAILED = 16
/** Failed, but the client library had met a doubt before it and goes on. */
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

/** The doubt about several filters: what was met first decides whether the library goes on. */
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
