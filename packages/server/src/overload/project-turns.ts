import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { overloaded } from './load-shedder.ts'
import { createProjectMarks } from './project-marks.ts'

/**
 * Evaluations run at once, except those of a project that was marked because one took long, as with hundreds of regular expressions on long
 * values: they take turns, and while other projects evaluate, those get as much time after a turn as it took. So one tenant cannot stall
 * another.
 */
export interface ProjectTurns {
  /** A promise when the work waits for its turn; rejects with `unavailable` when too much of the project waits, or for too long. */
  run<T>(projectId: number, work: () => T): T | Promise<T>
  /** Evaluations of the project take turns for a second. */
  mark(projectId: number): void
}

/** A turn goes on with the next work until it has taken as long. */
const turnMilliseconds = 5
const waitingPerProjectMax = 100
/** Clients wait three seconds at most. */
const waitingMillisecondsMax = 3000

type Queue = (() => void)[]

export function createProjectTurns(now: () => number = monotonicNow): ProjectTurns {
  const marks = createProjectMarks(now)
  /** In the order of their turns. */
  const waiting = new Map<number, Queue>()
  let isPlanned = false
  let haveOthersRun = false

  function takeTurns(): void {
    haveOthersRun = false
    const begun = now()
    let took = 0
    while (waiting.size > 0 && took < turnMilliseconds) {
      const [projectId, queue] = waiting.entries().next().value!
      waiting.delete(projectId)
      const next = queue.shift()!
      if (queue.length > 0) waiting.set(projectId, queue)
      next()
      took = now() - begun
    }
    // What has arrived meanwhile is read first.
    setImmediate(() => {
      if (haveOthersRun) setTimeout(goOn, took)
      else goOn()
    })
  }

  function goOn(): void {
    if (waiting.size > 0) takeTurns()
    else isPlanned = false
  }

  return {
    run(projectId, work) {
      if (!marks.has(projectId)) {
        haveOthersRun = true
        return work()
      }
      const queue = waiting.get(projectId) ?? []
      if (queue.length >= waitingPerProjectMax) throw overloaded
      const until = now() + waitingMillisecondsMax
      return new Promise((resolve, reject) => {
        queue.push(() => {
          if (now() > until) return reject(overloaded)
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
        waiting.set(projectId, queue)
        if (isPlanned) return
        isPlanned = true
        setImmediate(takeTurns)
      })
    },
    mark: marks.add,
  }
}
