import type { PluginCache } from './plugin-services.ts'

export interface CacheLimits {
  readonly entriesMax: number
  readonly listItemsMax: number
  readonly valueCharactersMax: number
}

const cacheLimits: CacheLimits = { entriesMax: 1_000, listItemsMax: 1_000, valueCharactersMax: 65_536 }

interface Entry {
  value: unknown
  expiresAt: number
}

/**
 * A cache in memory for one configuration. When it is full the entry that was written longest ago makes room. It is not
 * shared between nodes: what has to survive belongs into the storage.
 */
export function createMemoryCache(now: () => number = Date.now, limits: CacheLimits = cacheLimits): PluginCache {
  const entries = new Map<string, Entry>()

  function find(key: string): Entry | undefined {
    const entry = entries.get(key)
    if (entry && entry.expiresAt <= now()) {
      entries.delete(key)
      return undefined
    }
    return entry
  }

  function write(key: string, value: unknown, expiresAt: number): void {
    if ((JSON.stringify([key, value]) ?? '').length > limits.valueCharactersMax)
      throw new Error('The value is too large.')
    entries.delete(key)
    if (entries.size >= limits.entriesMax) entries.delete(entries.keys().next().value!)
    entries.set(key, { value, expiresAt })
  }

  function readList(key: string): unknown[] {
    const value = find(key)?.value ?? []
    if (!Array.isArray(value)) throw new Error('The value is not a list.')
    return value
  }

  const expiry = (seconds: number | null) => (seconds === null ? Number.POSITIVE_INFINITY : now() + seconds * 1_000)
  const keepExpiry = (key: string) => find(key)?.expiresAt ?? Number.POSITIVE_INFINITY

  return {
    get: key => find(key)?.value ?? null,
    set: (key, value, seconds) => write(key, value, expiry(seconds)),
    incr(key) {
      const next = Number(find(key)?.value ?? 0) + 1
      if (!Number.isFinite(next)) throw new Error('The value is not a number.')
      write(key, next, keepExpiry(key))
      return next
    },
    expire(key, seconds) {
      const entry = find(key)
      if (entry) entry.expiresAt = expiry(seconds)
      return entry !== undefined
    },
    lpush(key, values) {
      const next = [...values.toReversed(), ...readList(key)]
      if (next.length > limits.listItemsMax) throw new Error(`A list holds at most ${limits.listItemsMax} items.`)
      write(key, next, keepExpiry(key))
      return next.length
    },
    lrange(key, start, end) {
      const items = readList(key)
      const from = start < 0 ? items.length + start : start
      const to = end < 0 ? items.length + end : end
      return items.slice(Math.max(0, from), to + 1)
    },
    llen: key => readList(key).length,
    lrem(key, count, value) {
      const [items, wanted] = [readList(key), JSON.stringify(value)]
      const matches = items.flatMap((item, index) => (JSON.stringify(item) === wanted ? [index] : []))
      const chosen = count === 0 ? matches : count > 0 ? matches.slice(0, count) : matches.slice(count)
      const removed = new Set(chosen)
      write(
        key,
        items.filter((_item, index) => !removed.has(index)),
        keepExpiry(key),
      )
      return removed.size
    },
    lpop(key, count) {
      const items = readList(key)
      write(key, items.slice(count), keepExpiry(key))
      return items.slice(0, count)
    },
  }
}
