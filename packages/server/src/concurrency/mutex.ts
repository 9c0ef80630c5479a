/** One holder at a time, in the order of arrival. */
export class Mutex {
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  get isLocked(): boolean {
    return this.#isLocked
  }

  async acquire(): Promise<void> {
    if (this.#isLocked) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#isLocked = true
  }

  /** Hands over to the first in line; the mutex stays locked in between. */
  release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#isLocked = false
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }
}
