import { LRUCache } from 'lru-cache'

/** Memoizes a pure function of a string for the most recently used keys, whatever it returns: `undefined` costs as much to compute. */
export function memoizeByKey<T>(keysMax: number, compute: (key: string) => T): (key: string) => T {
  const cache = new LRUCache<string, { readonly value: T }>({ max: keysMax })
  return key => {
    const cached = cache.get(key)
    if (cached) return cached.value
    const value = compute(key)
    cache.set(key, { value })
    return value
  }
}
