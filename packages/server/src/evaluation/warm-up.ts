import { setTimeout as wait } from 'node:timers/promises'
import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { Problem } from '../problem.ts'
import type { ChangeFeed } from '../storage/changes/changes.ts'
import type { Database } from '../stores.ts'
import type { Snapshots } from './snapshots.ts'

interface Deps {
  readonly database: Pick<Database, 'read'>
  readonly snapshots: Pick<Snapshots, 'forToken'>
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** Number of projects to load before the first request; 0 means none. */
  readonly projectsMax: number
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

export interface WarmUp {
  /**
   * The initial projects are in memory, so that an outage of the database does not affect them; or loading takes so long that readiness
   * should not wait for it. Once true, always true.
   */
  isDone(): boolean
  /** Resolves when it is true. */
  done(): Promise<void>
  stop(): void
}

const retryMilliseconds = 500
const lookMilliseconds = 5
/** A huge installation is served while it is still being read. Starts again after the database was unavailable. */
const waitedForMillisecondsMax = 15_000

const isAway = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable'

/**
 * Loads the most recently changed projects into memory, and later ones as they appear, one at a time, so that they are served even when
 * the database fails before their first request.
 */
export function warmUp({ database, snapshots, changes, projectsMax, now = monotonicNow }: Deps): WarmUp {
  if (projectsMax === 0) return { isDone: () => true, done: async () => {}, stop: () => {} }
  const seen = new Set<number>()
  let isClosed = false
  let since = now()
  let pending = 0
  let isDone = false
  let work: Promise<void> = Promise.resolve()
  let resolveDone = () => {}
  const isRead = new Promise<void>(resolve => {
    resolveDone = resolve
  })

  /** Failed loads are retried: a database that was briefly unavailable at the start may fail for longer later. */
  const attempt = (next: () => Promise<unknown>): void => {
    work = work
      .then(async () => {
        if (!isClosed) await next()
        settle()
      })
      .catch(error => {
        if (!isAway(error)) return settle()
        since = now()
        setTimeout(() => attempt(next), retryMilliseconds).unref()
      })
  }

  const enqueue = (next: () => Promise<unknown>): void => {
    pending += 1
    attempt(next)
  }

  const settle = (): void => {
    pending -= 1
    if (pending > 0) return
    isDone = true
    resolveDone()
  }

  const read = (projectId: number, token: string | undefined): void => {
    if (seen.has(projectId) || seen.size >= projectsMax) return
    seen.add(projectId)
    enqueue(async () => {
      const apiToken = token ?? (await database.read(tx => tx.projects.find(projectId)))?.apiToken
      if (apiToken !== undefined) await snapshots.forToken(apiToken)
    })
  }

  const readBusiest = () =>
    enqueue(async () => {
      const busiest = await database.read(tx => tx.projects.listLastChanged(projectsMax))
      for (const { id, apiToken } of busiest) read(id, apiToken)
    })
  const unsubscribe = changes.subscribe(batch => {
    for (const { topic, projectId } of batch) {
      if (projectId !== null && (topic === 'flag' || topic === 'project')) read(projectId, undefined)
    }
  }, readBusiest)
  readBusiest()
  const isOver = () => {
    isDone ||= now() - since > waitedForMillisecondsMax
    return isDone
  }
  return {
    isDone: isOver,
    async done() {
      while (!isOver() && !isClosed) await Promise.race([isRead, wait(lookMilliseconds)])
    },
    stop() {
      isClosed = true
      unsubscribe()
    },
  }
}
