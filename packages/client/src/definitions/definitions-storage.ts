import type { DefinitionsCache } from '../options.ts'
import { startTimer } from '../timers.ts'
import type { CurrentDefinitions } from './current-definitions.ts'
import { readDocument } from './definitions.ts'
import { documentOf, stateOf } from './flag-state.ts'

const writeDelayMilliseconds = 1_000

/** Stores the definitions in the application's cache, and reads them at the next start. */
export class DefinitionsStorage {
  readonly #cache: DefinitionsCache
  readonly #current: CurrentDefinitions
  readonly #report: (error: unknown) => void
  #cancelWrite: (() => void) | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(cache: DefinitionsCache, current: CurrentDefinitions, report: (error: unknown) => void) {
    this.#cache = cache
    this.#current = current
    this.#report = report
  }

  async read(): Promise<void> {
    try {
      const text = await this.#cache.read()
      // What the server has sent meanwhile is newer.
      if (text === undefined || this.#current.isFromServer) return
      const { digest, definitions } = JSON.parse(text) as { digest?: string; definitions: string }
      this.#current.useStored(() => stateOf(readDocument(JSON.parse(definitions)), digest))
    } catch (error) {
      this.#report(error)
    }
  }

  /** Changes in quick succession are written once. */
  scheduleWrite(): void {
    this.#cancelWrite ??= startTimer(() => this.#write(), writeDelayMilliseconds)
  }

  async close(): Promise<void> {
    if (this.#cancelWrite !== undefined) {
      this.#cancelWrite()
      this.#write()
    }
    await this.#writing
  }

  #write(): void {
    this.#cancelWrite = undefined
    const { state } = this.#current
    if (state === undefined) return
    const text = JSON.stringify({ digest: state.digest, definitions: documentOf(state) })
    this.#writing = this.#writing.then(() => this.#cache.write(text)).catch(this.#report)
  }
}
