import { monotonicNow } from '../concurrency/monotonic-clock.ts'

/** After a failed lookup, skips lookups of the same project for a moment, so that clients do not wait for each of them. */
export interface CircuitBreaker {
  isOpen(projectId: number): boolean
  /** A lookup of the project has failed. */
  open(projectId: number): void
}

/** Clients wait three seconds at most. */
const openMilliseconds = 1000
/** Beyond this many failing projects, the oldest entries are dropped. */
const projectsMax = 10_000

/** Per project: a slow lookup of one tenant must not fail the flags of another. */
export function createCircuitBreaker(now: () => number = monotonicNow): CircuitBreaker {
  const openUntil = new Map<number, number>()
  return {
    isOpen(projectId) {
      const until = openUntil.get(projectId)
      if (until === undefined) return false
      if (now() < until) return true
      openUntil.delete(projectId)
      return false
    },
    open(projectId) {
      openUntil.delete(projectId)
      openUntil.set(projectId, now() + openMilliseconds)
      if (openUntil.size <= projectsMax) return
      const [oldest] = openUntil.keys()
      openUntil.delete(oldest!)
    },
  }
}
