/**
 * Milliseconds of a clock that nobody sets. What waits or is remembered inside this process goes by it: a wall clock that was wrong for a
 * moment would lock people out, or keep what is stale, for as long as it was wrong.
 */
export const monotonicNow = (): number => performance.now()
