import { monotonicNow } from '../concurrency/monotonic-clock.ts'

/** Marks that projects have for a second, such as after a failed lookup. Per project: trouble of one tenant is none of another's. */
export interface ProjectMarks {
  has(projectId: number): boolean
  /** A project that has a mark keeps it for another second. */
  add(projectId: number): void
}

/** Clients wait three seconds at most. */
const markedMilliseconds = 1000
/** Beyond this many marked projects, the oldest marks are dropped. */
const projectsMax = 10_000

export function createProjectMarks(now: () => number = monotonicNow): ProjectMarks {
  const markedUntil = new Map<number, number>()
  return {
    has(projectId) {
      const until = markedUntil.get(projectId)
      if (until === undefined) return false
      if (now() < until) return true
      markedUntil.delete(projectId)
      return false
    },
    add(projectId) {
      markedUntil.delete(projectId)
      markedUntil.set(projectId, now() + markedMilliseconds)
      if (markedUntil.size <= projectsMax) return
      const [oldest] = markedUntil.keys()
      markedUntil.delete(oldest!)
    },
  }
}
