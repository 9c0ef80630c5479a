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
  /** So many projects are read before anybody asks for them; 0 means none. */
  readonly projectsMax: number
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

export interface WarmUp {
  /**
   * What was to be read at the start has been, so that a database that goes now takes nobody along; or it takes so long that others should not
   * wait for it. Once true, always true.
   */
  isDone(): boolean
  /** Resolves when it is. */
  done(): Promise<void>
  stop(): void
}

const retryMilliseconds = 500
const lookMilliseconds = 5
/** A huge installation is served while it is still being read. Starts again after the database was unavailable. */
const waitedForMillisecondsMax = 15_000

const isAway = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable'

/**
 * Reads the projects whose flags changed last into memory, and those that come to life later, one after the other. Nobody has asked for
 * them yet; but when the database goes before somebody does, they are there.
 */
export function warmUp({ database, snapshots, changes, projectsMax, now = monotonicNow }: Deps): WarmUp {
  if (projectsMax === 0) return { isDone: () => true, done: async () => {}, stop: () => {} }
  const seen = new Set<number>()
  let isClosed = false
  let since = now()
  let pending = 0
  let isDone = false
  let work: Promise<void> = Promise.resolve()
  let tellDone = () => {}
  const isRead = new Promise<void>(resolve => {
    tellDone = resolve
  })

  /** What fails is tried again: a database that was away for a moment at the start may be away for longer later. */
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

  const inTurn = (next: () => Promise<unknown>): void => {
    pending += 1
    attempt(next)
  }

  const settle = (): void => {
    pending -= 1
    if (pending > 0) return
    isDone = true
    tellDone()
  }

  const read = (projectId: number, token: string | undefined): void => {
    if (seen.has(projectId) || seen.size >= projectsMax) return
    seen.add(projectId)
    inTurn(async () => {
      const known = token ?? (await database.read(tx => tx.projects.find(projectId)))?.apiToken
      if (known !== undefined) await snapshots.forToken(known)
    })
  }

  const readBusiest = () =>
    inTurn(async () => {
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
