/** How long statements may follow one another before other requests are served. */
const sliceMillisecondsMax = 10

/**
 * Statements over SQLite are synchronous, and awaiting them does not yield to the event loop: a thousand queries in a row would delay every
 * other request until the last one. This decides when to yield.
 */
export class TimeSlice {
  /** When the first statement of this tick ran. */
  #since: number | undefined

  /** Undefined within the time slice; else to be awaited before the next statement. */
  next(): Promise<void> | undefined {
    if (this.#since === undefined) {
      this.#since = performance.now()
      setImmediate(() => {
        this.#since = undefined
      })
      return undefined
    }
    if (performance.now() - this.#since < sliceMillisecondsMax) return undefined
    return new Promise(resolve => setImmediate(resolve))
  }
}
