import { LRUCache } from 'lru-cache'
import type { Change, ChangeFeed } from './changes.ts'

export interface CacheLimits<V> {
  /** The sum of all sizes; the least recently used entries leave. Without `sizeOf` it is the number of entries. */
  readonly sizeMax: number
  readonly sizeOf?: (value: V) => number
  /** What a value is about, so that all values about it can be invalidated together without a search. */
  readonly tagOf?: (value: V) => string
}

/**
 * An LRU cache with single flight. A value that was loaded while an entry was invalidated is returned and not cached, since it may have been
 * read before the change.
 */
export class InvalidatedCache<V extends {}> {
  readonly #entries: LRUCache<string, V>
  readonly #sizeOf: (value: V) => number
  readonly #sizeMax: number
  readonly #tagOf: ((value: V) => string) | undefined
  readonly #keysByTag = new Map<string, Set<string>>()
  readonly #loads = new Map<string, { readonly generation: number; readonly value: Promise<V | undefined> }>()
  #generation = 0

  constructor({ sizeMax, sizeOf = () => 1, tagOf }: CacheLimits<V>) {
    this.#entries = new LRUCache({
      maxSize: sizeMax,
      ...(tagOf && { dispose: (value, key) => this.#untag(key, value) }),
    })
    this.#tagOf = tagOf
    this.#sizeMax = sizeMax
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#entries.size
  }

  /** The cached value, which becomes the most recently used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)
  }

  /** The cached value, or what `find` returns; undefined is not cached. */
  async get(key: string, find: () => Promise<V | undefined>): Promise<V | undefined> {
    return this.peek(key) ?? this.load(key, find)
  }

  /** Replaces the cached value. Calls for one key share a load, unless an entry was invalidated after it began. */
  load(key: string, find: () => Promise<V | undefined>): Promise<V | undefined> {
    const running = this.#loads.get(key)
    if (running?.generation === this.#generation) return running.value
    const generation = this.#generation
    const value = find().then(loaded => {
      if (generation === this.#generation) this.set(key, loaded)
      return loaded
    })
    const load = { generation, value }
    this.#loads.set(key, load)
    const end = () => {
      if (this.#loads.get(key) === load) this.#loads.delete(key)
    }
    value.then(end, end)
    return value
  }

  /** Undefined, and what is larger than the whole cache, is removed. */
  set(key: string, value: V | undefined): void {
    const size = value === undefined ? 0 : Math.max(1, this.#sizeOf(value))
    if (value === undefined || size > this.#sizeMax) this.#entries.delete(key)
    else {
      this.#entries.set(key, value, { size })
      this.#tag(key, value)
    }
  }

  delete(key: string): void {
    this.#generation += 1
    this.#entries.delete(key)
  }

  deleteTag(tag: string): void {
    this.#generation += 1
    for (const key of this.#keysByTag.get(tag) ?? []) this.#entries.delete(key)
  }

  deleteWhere(isStale: (value: V) => boolean): void {
    this.#generation += 1
    for (const [key, value] of this.#entries.entries()) if (isStale(value)) this.#entries.delete(key)
  }

  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }

  #tag(key: string, value: V): void {
    if (this.#tagOf === undefined) return
    const tag = this.#tagOf(value)
    const keys = this.#keysByTag.get(tag)
    if (keys === undefined) this.#keysByTag.set(tag, new Set([key]))
    else keys.add(key)
  }

  #untag(key: string, value: V): void {
    const tag = this.#tagOf!(value)
    const keys = this.#keysByTag.get(tag)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysByTag.delete(tag)
  }
}

interface ProjectCacheOptions<V> extends CacheLimits<V> {
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** Whether a change may affect values of its project. A change in no project concerns all of them. */
  readonly isConcerned: (change: Change) => boolean
  readonly projectOf: (value: V) => number
}

/** A cache of values that belong to projects, invalidated by the change feed. A caller that needs the newest value calls `catchUp` first. */
export function createProjectCache<V extends {}>(
  options: ProjectCacheOptions<V>,
): InvalidatedCache<V> & { close(): void } {
  const { changes, isConcerned, projectOf } = options
  const cache = new InvalidatedCache<V>(options)
  const close = changes.subscribe(
    batch => {
      for (const change of batch) {
        if (!isConcerned(change)) continue
        if (change.projectId === null) cache.clear()
        else cache.deleteWhere(value => projectOf(value) === change.projectId)
      }
    },
    () => cache.clear(),
  )
  return Object.assign(cache, { close })
}
