/** So long may statements follow one another before others are heard. */
const turnMillisecondsMax = 10

/**
 * Statements over SQLite are synchronous, and what awaits them goes on without a turn of the event loop: whoever asks a thousand times in a row
 * would keep everybody else waiting until the last answer. This says when it is time to let the others have their turn.
 */
export class TimeSlice {
  /** When the first statement of this turn came. */
  #since: number | undefined

  /** Undefined while the turn may go on; else to be awaited before the next statement. */
  next(): Promise<void> | undefined {
    if (this.#since === undefined) {
      this.#since = performance.now()
      setImmediate(() => {
        this.#since = undefined
      })
      return undefined
    }
    if (performance.now() - this.#since < turnMillisecondsMax) return undefined
    return new Promise(resolve => setImmediate(resolve))
  }
}
