import type { Change, ChangeFeed } from '../storage/changes/changes.ts'

/** What was found out once, and holds until it changes. */
export interface Memory<T> {
  /** What is remembered by that name, or what `find` answers, which is remembered then; undefined never is. */
  get(name: string, find: () => Promise<T | undefined>): Promise<T | undefined>
  close(): void
}

interface InvalidatedCacheOptions<T> {
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** Whether a change may have made what is remembered of a project wrong. A change in no project concerns them all. */
  readonly isConcerned: (change: Change) => boolean
  /** The project that something remembered belongs to. */
  readonly projectOf: (value: T) => number
  readonly sizeOf: (value: T) => number
  /** Beyond this everything is forgotten. */
  readonly sizeMax: number
}

/**
 * Remembers as long as the change feed tells of nothing else. Who must not be told anything old asks the feed to catch up first; then
 * what is remembered is what the database would answer.
 */
export function createInvalidatedCache<T>({
  changes,
  isConcerned,
  projectOf,
  sizeOf,
  sizeMax,
}: InvalidatedCacheOptions<T>): Memory<T> {
  const known = new Map<string, T>()
  let size = 0
  let generation = 0

  function forget(name: string, value: T): void {
    known.delete(name)
    size -= sizeOf(value)
  }

  function forgetAll(): void {
    generation += 1
    known.clear()
    size = 0
  }

  const close = changes.subscribe(batch => {
    for (const change of batch) {
      if (!isConcerned(change)) continue
      generation += 1
      for (const [name, value] of known) {
        if (change.projectId === null || change.projectId === projectOf(value)) forget(name, value)
      }
    }
  }, forgetAll)

  return {
    async get(name, find) {
      const remembered = known.get(name)
      if (remembered !== undefined) return remembered
      const begun = generation
      const found = await find()
      // What has changed while it was looked up may or may not be in it.
      if (found === undefined || begun !== generation || sizeOf(found) > sizeMax) return found
      if (size + sizeOf(found) > sizeMax) {
        known.clear()
        size = 0
      }
      known.set(name, found)
      size += sizeOf(found)
      return found
    },
    close,
  }
}
