/**
 * The answer of a filter, together with how sure a client library is of it.
 *
 * The server always has an answer (bit 0). posthog-node, evaluating the same definitions in the client's process, may
 * decline: because a property is missing, a number has no certain spelling, an operator is unknown to it (UNSURE), or
 * only the server has the data (REMOTE). A condition that it declines does not stop it from answering by a later one,
 * so the evaluator has to know about the doubt to give the same answer.
 */
export type Truth = number

export const FALSE = 0
export const TRUE = 1
/** The client library declines the filter and goes on. */
export const UNSURE = 2
export const UNSURE_FALSE = 2
export const UNSURE_TRUE = 3
/** The client library declines the whole flag. */
export const REMOTE = 4
/** Together with UNSURE: it goes on, but takes no later condition's word that would give another value. */
export const REGEX = 8
/** Nobody can answer: the filter names a cohort that does not exist, or that contains itself. */
export const FAILED = 16
/** Failed, but the client library had met a doubt before it and goes on. */
export const FAILED_AFTER_DOUBT = 17

export function isAffirmed(truth: Truth): boolean {
  return (truth & 1) === 1 && truth < FAILED
}

export function hasFailed(truth: Truth): boolean {
  return truth >= FAILED
}

export function doubtOf(truth: Truth): number {
  return truth >= FAILED ? REMOTE : truth & ~1
}

/** The doubt about several filters: what was met first decides whether the library goes on. */
export function joinDoubts(first: number, second: number): number {
  if (first === 0) return second
  return first & UNSURE && second & UNSURE ? first | second : first
}

export function negate(truth: Truth): Truth {
  return truth >= FAILED ? truth : truth ^ 1
}

export function truthOf(answer: boolean, certain = true): Truth {
  return (answer ? TRUE : FALSE) | (certain ? 0 : UNSURE)
}
