import { NOT_EVALUATED } from './run.ts'

/** Cached values per property. */
const rowsMax = 256
/** A full cache with fewer lookups per value than this was not worth filling. */
const asksPerRowMin = 4
/** Lookups to skip before a property with rarely recurring values is cached again. */
const restAsks = 20_000
const strideStep = 8
const charactersMax = 100
/** The value is not cached. */
export const NO_ROW = -1

const isCacheable = (value: unknown): boolean =>
  typeof value === 'string' ? value.length <= charactersMax : typeof value === 'number' || typeof value === 'boolean'

/**
 * Caches the results of all filters on one person property, by value: countries, plans and versions recur from person to
 * person. For properties with distinct values, such as ids, it detects low hit rates and pauses.
 */
export class ResultCache {
  readonly key: string
  /** One row per value, one slot per filter. Clearing replaces the table. */
  table = new Uint8Array(0)
  #stride = 0
  #places = 0
  readonly #rows = new Map<unknown, number>()
  #asks = 0
  #rest = 0

  constructor(key: string) {
    this.key = key
  }

  /** Adds a filter and returns its slot in each row. */
  addFilter(): number {
    if (this.#places === this.#stride) {
      this.#stride += strideStep
      this.#clear()
    }
    return this.#places++
  }

  /** The index of the value's row. */
  rowOf(value: unknown): number {
    if (this.#rest > 0) {
      this.#rest--
      return NO_ROW
    }
    if (!isCacheable(value)) return NO_ROW
    this.#asks++
    return this.#rows.get(value) ?? this.#begin(value)
  }

  #begin(value: unknown): number {
    if (this.#rows.size === rowsMax) {
      if (this.#asks < rowsMax * asksPerRowMin) this.#rest = restAsks
      this.#clear()
      if (this.#rest > 0) return NO_ROW
    }
    if (this.table.length === 0) this.table = new Uint8Array(rowsMax * this.#stride).fill(NOT_EVALUATED)
    const row = this.#rows.size * this.#stride
    this.#rows.set(value, row)
    return row
  }

  /** A running evaluation may continue with the old table. */
  #clear(): void {
    this.#rows.clear()
    this.#asks = 0
    this.table = new Uint8Array(0)
  }
}
