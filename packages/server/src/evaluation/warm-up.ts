import type { ChangeFeed } from '../changes.ts'
import { Problem } from '../problem.ts'
import type { Database } from '../stores.ts'
import type { Snapshots } from './snapshots.ts'

interface Deps {
  readonly database: Pick<Database, 'read'>
  readonly snapshots: Pick<Snapshots, 'forToken'>
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** So many projects are read before anybody asks for them; 0 means none. */
  readonly projectsMax: number
}

const retryMilliseconds = 500

const isAway = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable'

/**
 * Reads the projects whose flags changed last into memory, and those that come to life later, one after the other. Nobody has asked for
 * them yet; but when the database goes before somebody does, they are there. Answers how to stop.
 */
export function warmUp({ database, snapshots, changes, projectsMax }: Deps): () => void {
  if (projectsMax === 0) return () => {}
  const seen = new Set<number>()
  let isClosed = false
  let work: Promise<void> = Promise.resolve()

  /** What fails is tried again: a database that was away for a moment at the start may be away for longer later. */
  const inTurn = (next: () => Promise<unknown>): void => {
    work = work
      .then(async () => {
        if (!isClosed) await next()
      })
      .catch(error => {
        if (isAway(error)) setTimeout(() => inTurn(next), retryMilliseconds).unref()
      })
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
  return () => {
    isClosed = true
    unsubscribe()
  }
}
