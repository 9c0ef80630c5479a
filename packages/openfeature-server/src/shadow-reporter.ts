import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createErrorReport } from '@halyard/client'

export interface ShadowReporterOptions {
  /** The address of the Halyard server. */
  readonly url: string
  /** A project secret key (`phs_…`). */
  readonly key: string
  /** How often counts are sent. Default: 10,000. */
  readonly intervalMilliseconds?: number
  /** Called when something fails in the background. Default: each message is logged to the console once an hour. */
  readonly onError?: (error: Error) => void
  /** Called for each comparison, such as for own metrics. */
  readonly onComparison?: (comparison: ShadowComparison & { readonly isEqual: boolean }) => void
}

export interface ShadowComparison {
  readonly key: string
  readonly targetingKey: string
  /** Value of the provider in use. */
  readonly there: unknown
  /** Value of Halyard, or `{error}`. */
  readonly here: unknown
  /** Whether Halyard failed to evaluate, such as while the server does not respond: there is nothing to compare then. */
  readonly isFailed?: boolean
}

interface Count {
  agree: number
  differ: number
  failed: number
  example: { readonly there: unknown; readonly here: unknown; readonly distinct_id: string } | null
}

interface Report {
  readonly batch_id: string
  readonly flags: readonly (Count & { readonly key: string })[]
}

/** As many as the server accepts in one report; the comparisons of further flags are not counted. */
const flagsMax = 1000
/** Reports that wait for a server that does not respond; then the oldest are dropped. */
const reportsMax = 10
const requestMilliseconds = 10_000
const exampleCharactersMax = 1000
const targetingKeyCharactersMax = 400

/** Counts comparisons by flag and sends the sums. A report that fails is sent again with the same id, which counts once. */
export class ShadowReporter {
  readonly #options: ShadowReporterOptions
  readonly #report: (error: unknown) => void
  #counts = new Map<string, Count>()
  readonly #reports: Report[] = []
  readonly #timer: NodeJS.Timeout
  #sending: Promise<void> | undefined

  constructor(options: ShadowReporterOptions) {
    this.#options = options
    this.#report = createErrorReport(options.onError)
    this.#timer = setInterval(() => void this.flush(), options.intervalMilliseconds ?? 10_000)
    this.#timer.unref()
  }

  count(comparison: ShadowComparison): void {
    const { key, targetingKey, there, here, isFailed = false } = comparison
    const isEqual = !isFailed && isDeepStrictEqual(there, here)
    this.#options.onComparison?.({ ...comparison, isFailed, isEqual })
    const count = this.#counts.get(key) ?? { agree: 0, differ: 0, failed: 0, example: null }
    if (!this.#counts.has(key)) {
      if (this.#counts.size >= flagsMax) return
      this.#counts.set(key, count)
    }
    if (isFailed) count.failed++
    else if (isEqual) count.agree++
    if (isFailed || isEqual) return
    count.differ++
    count.example = {
      there: shortened(there),
      here: shortened(here),
      distinct_id: targetingKey.slice(0, targetingKeyCharactersMax),
    }
  }

  fail(error: unknown): void {
    this.#report(error)
  }

  /** Sends what was counted. Never rejects. */
  async flush(): Promise<void> {
    if (this.#counts.size > 0) {
      const flags = [...this.#counts].map(([key, count]) => ({ key, ...count }))
      this.#counts = new Map()
      this.#reports.push({ batch_id: randomUUID(), flags })
      if (this.#reports.length > reportsMax) this.#reports.shift()
    }
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined
    })
    await this.#sending
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
    if (this.#reports.length > 0 || this.#counts.size > 0) await this.flush()
  }

  async #send(): Promise<void> {
    for (let report = this.#reports[0]; report !== undefined; report = this.#reports[0]) {
      try {
        const { status } = await fetch(`${this.#options.url.replace(/\/+$/, '')}/api/shadow_reports/`, {
          method: 'POST',
          headers: { authorization: `Bearer ${this.#options.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(report),
          signal: AbortSignal.timeout(requestMilliseconds),
        })
        if (status !== 200) this.fail(new Error(`The server responded to a shadow report with ${status}.`))
        // What it does not accept now, it will not accept later.
        if (status >= 500 || status === 429) return
      } catch (error) {
        this.fail(error)
        return
      }
      const index = this.#reports.indexOf(report)
      if (index !== -1) this.#reports.splice(index, 1)
    }
  }
}

/** Large values would exceed the limits of the server. */
function shortened(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= exampleCharactersMax ? (value ?? null) : `${text.slice(0, exampleCharactersMax)}…`
}
