import { retryDelay } from '../../concurrency/retry-delay.ts'
import type { ProjectSource } from './project-source.ts'
import { type ServedProject, servedProject, withFlags } from './served-project.ts'
import type { Entry } from './snapshot-entry.ts'

/** Reads projects again after changes. */
export interface Refresher {
  read(projectId: number): Promise<ServedProject | undefined>
  /** Reads what is stale, until nothing is. Concurrent calls share the work. */
  refresh(entry: Entry): Promise<void>
  /** Stops the retries of these entries and starts no others. */
  close(entries: Iterable<Entry>): void
}

interface RefresherOptions {
  readonly onRead: (entry: Entry, after: ServedProject | undefined) => void
  /** The database cannot be reached; the refresh is retried. */
  readonly onFailed: () => void
}

/** Beyond this many changed flags at once, the whole project is read again. */
const flagsLookedUpMax = 200
const retryMillisecondsMin = 500
const retryMillisecondsMax = 10_000

export function createRefresher(source: ProjectSource, { onRead, onFailed }: RefresherOptions): Refresher {
  let isClosed = false

  async function read(projectId: number): Promise<ServedProject | undefined> {
    const content = await source.read(projectId)
    return content && servedProject(content)
  }

  function refresh(entry: Entry): Promise<void> {
    entry.refreshing ??= readStale(entry).finally(() => {
      entry.refreshing = undefined
    })
    return entry.refreshing
  }

  async function readStale(entry: Entry): Promise<void> {
    while (entry.current && (entry.isStale || entry.staleFlags.size > 0)) {
      const wasStale = entry.isStale || entry.staleFlags.size > flagsLookedUpMax
      const ids = [...entry.staleFlags]
      entry.isStale = false
      entry.staleFlags.clear()
      try {
        const after = wasStale ? await read(entry.projectId) : await readFlags(entry.current, ids)
        entry.failures = 0
        onRead(entry, after)
      } catch {
        // The database cannot be reached: the version in memory stays in use, and the refresh is retried.
        entry.isStale ||= wasStale
        for (const id of ids) entry.staleFlags.add(id)
        onFailed()
        retryLater(entry)
        return
      }
    }
  }

  async function readFlags(served: ServedProject, ids: readonly number[]): Promise<ServedProject> {
    return withFlags(served, ids, await source.readFlags(served.project.id, ids))
  }

  function retryLater(entry: Entry): void {
    if (isClosed || entry.retry) return
    entry.failures += 1
    const delay = retryDelay(entry.failures, { first: retryMillisecondsMin, max: retryMillisecondsMax })
    entry.retry = setTimeout(() => {
      entry.retry = undefined
      refresh(entry).catch(() => {})
    }, delay)
    entry.retry.unref()
  }

  return {
    read,
    refresh,
    close(entries) {
      isClosed = true
      for (const entry of entries) clearTimeout(entry.retry)
    },
  }
}
