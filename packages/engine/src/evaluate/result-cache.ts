import { NOT_EVALUATED } from './run.ts'

/** So many values of a property are remembered. */
const rowsMax = 256
/** What is remembered must have been asked for so often for each value, or it was not worth it. */
const asksPerRowMin = 4
/** How many subjects go by before a property whose values hardly ever come again gets another try. */
const restAsks = 20_000
const strideStep = 8
const charactersMax = 100
/** The value is not remembered. */
export const NO_ROW = -1

const isCacheable = (value: unknown): boolean =>
  typeof value === 'string' ? value.length <= charactersMax : typeof value === 'number' || typeof value === 'boolean'

/**
 * What filters on one property of persons have answered to values: countries, plans and versions come again with the next person, and their
 * filters need not be run again. Where values differ from person to person, as ids do, it finds out that it is of no use and rests.
 */
export class ResultCache {
  readonly key: string
  /** The answers to one value in a row, by the place of the filter. When everything is forgotten, it is another table. */
  table = new Uint8Array(0)
  #stride = 0
  #places = 0
  readonly #rows = new Map<unknown, number>()
  #asks = 0
  #rest = 0

  constructor(key: string) {
    this.key = key
  }

  /** The place of one more filter in each row. */
  addFilter(): number {
    if (this.#places === this.#stride) {
      this.#stride += strideStep
      this.#clear()
    }
    return this.#places++
  }

  /** Where the row of a value begins. */
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

  /** Whoever is at it may go on with the old table. */
  #clear(): void {
    this.#rows.clear()
    this.#asks = 0
    this.table = new Uint8Array(0)
  }
}
