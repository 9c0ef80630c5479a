import { InvalidatedCache } from './invalidated-cache.ts'

/** Memoizes a pure function of a string for the most recently used keys. Undefined is not cached. */
export function memoizeByKey<T>(keysMax: number, compute: (key: string) => T): (key: string) => T {
  const cache = new InvalidatedCache<NonNullable<T>>({ sizeMax: keysMax })
  return key => {
    const cached = cache.peek(key)
    if (cached !== undefined) return cached
    const computed = compute(key)
    cache.set(key, computed ?? undefined)
    return computed
  }
}
