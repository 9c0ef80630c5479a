/** Seeded pseudo-random choices. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** An integer in [0, count). */
  below(count: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  list<T>(countMax: number, make: (index: number) => T): T[]
}

/** mulberry32: small, and good enough for tests. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    next,
    below,
    chance: probability => next() < probability,
    pick: items => items[below(items.length)]!,
    list: (countMax, make) => Array.from({ length: below(countMax + 1) }, (_, index) => make(index)),
  }
}
