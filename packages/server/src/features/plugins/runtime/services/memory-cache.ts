import type { PluginCache } from './plugin-services.ts'

export interface CacheLimits {
  readonly entriesMax: number
  readonly listItemsMax: number
  /** One entry, key included. */
  readonly valueCharactersMax: number
  /** All entries together. */
  readonly charactersMax: number
}

const cacheLimits: CacheLimits = {
  entriesMax: 1_000,
  listItemsMax: 1_000,
  valueCharactersMax: 65_536,
  charactersMax: 4 * 1024 * 1024,
}

/** Values are stored as JSON, so that sizes are known and comparisons cost nothing more. */
interface Entry {
  content: string | string[]
  /** Of the key and the content. */
  characters: number
  expiresAt: number
}

/**
 * A cache in memory for one configuration. When it is full, the entry that was written least recently is evicted. It
 * is not shared between nodes: what has to survive belongs into the storage.
 */
export function createMemoryCache(now: () => number = Date.now, limits: CacheLimits = cacheLimits): PluginCache {
  /** Least recently written first. */
  const entries = new Map<string, Entry>()
  let total = 0

  function remove(key: string): void {
    total -= entries.get(key)?.characters ?? 0
    entries.delete(key)
  }

  function find(key: string): Entry | undefined {
    const entry = entries.get(key)
    if (entry && entry.expiresAt <= now()) {
      remove(key)
      return undefined
    }
    return entry
  }

  /** `characters` is the size of the content, which the caller knows without counting again. */
  function write(key: string, content: string | string[], characters: number, expiresAt: number): void {
    const size = key.length + characters
    if (size > limits.valueCharactersMax) throw new Error('The value is too large.')
    remove(key)
    while (entries.size >= limits.entriesMax || total + size > limits.charactersMax) {
      const oldest = entries.keys().next()
      if (oldest.done) break
      remove(oldest.value)
    }
    entries.set(key, { content, characters: size, expiresAt })
    total += size
  }

  function findList(key: string): { items: string[]; characters: number; expiresAt: number } {
    const entry = find(key)
    if (!entry) return { items: [], characters: 0, expiresAt: Number.POSITIVE_INFINITY }
    if (typeof entry.content === 'string') throw new Error('The value is not a list.')
    return { items: entry.content, characters: entry.characters - key.length, expiresAt: entry.expiresAt }
  }

  function read({ content }: Entry): unknown {
    return typeof content === 'string' ? JSON.parse(content) : content.map(parse)
  }

  const expiry = (seconds: number | null) => (seconds === null ? Number.POSITIVE_INFINITY : now() + seconds * 1_000)
  const expiryOf = (key: string) => find(key)?.expiresAt ?? Number.POSITIVE_INFINITY

  return {
    get(key) {
      const entry = find(key)
      return entry ? read(entry) : null
    },
    set(key, value, seconds) {
      const content = Array.isArray(value) ? value.map(serialize) : serialize(value)
      const characters = typeof content === 'string' ? content.length : lengthOf(content)
      write(key, content, characters, expiry(seconds))
    },
    incr(key) {
      const entry = find(key)
      const next = Number(entry ? read(entry) : 0) + 1
      if (!Number.isFinite(next)) throw new Error('The value is not a number.')
      const content = serialize(next)
      write(key, content, content.length, expiryOf(key))
      return next
    },
    expire(key, seconds) {
      const entry = find(key)
      if (entry) entry.expiresAt = expiry(seconds)
      return entry !== undefined
    },
    lpush(key, values) {
      const { items, characters, expiresAt } = findList(key)
      if (items.length + values.length > limits.listItemsMax) {
        throw new Error(`A list has at most ${limits.listItemsMax} items.`)
      }
      const added = values.map(serialize).reverse()
      write(key, [...added, ...items], characters + lengthOf(added), expiresAt)
      return added.length + items.length
    },
    lrange(key, start, end) {
      const { items } = findList(key)
      const from = start < 0 ? items.length + start : start
      const to = end < 0 ? items.length + end : end
      return items.slice(Math.max(0, from), to + 1).map(parse)
    },
    llen: key => findList(key).items.length,
    lrem(key, count, value) {
      const { items, characters, expiresAt } = findList(key)
      const wanted = serialize(value)
      const matches = items.flatMap((item, index) => (item === wanted ? [index] : []))
      const chosen = new Set(count === 0 ? matches : count > 0 ? matches.slice(0, count) : matches.slice(count))
      if (chosen.size === 0) return 0
      const left = items.filter((_item, index) => !chosen.has(index))
      write(key, left, characters - chosen.size * (wanted.length + 1), expiresAt)
      return chosen.size
    },
    lpop(key, count) {
      const { items, characters, expiresAt } = findList(key)
      const popped = items.slice(0, count)
      if (popped.length > 0) write(key, items.slice(popped.length), characters - lengthOf(popped), expiresAt)
      return popped.map(parse)
    },
  }
}

const serialize = (value: unknown): string => JSON.stringify(value) ?? 'null'

const parse = (json: string): unknown => JSON.parse(json)

/** With one character for what separates two items. */
const lengthOf = (items: readonly string[]): number => items.reduce((sum, item) => sum + item.length + 1, 0)
