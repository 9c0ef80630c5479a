/**
 * Milliseconds of the monotonic clock. Timeouts and cache ages use it: a wall clock that was wrong for a moment would lock users out, or
 * retain stale entries, for as long as it was wrong.
 */
export const monotonicNow = (): number => performance.now()
