import type { DefinitionsDocument } from './definitions/definitions.ts'
import { createErrorReport } from './report-errors.ts'

/** Where definitions are stored between two runs, such as a file or a key-value store. */
export interface DefinitionsCache {
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

export interface ClientOptions {
  /** The address of the server, such as `https://flags.example.com`. */
  readonly url: string
  /** A project secret key (`phs_…`), or a personal API key with the scope `feature_flag:read`. */
  readonly key: string
  /** Selects the project of a personal API key. A secret key belongs to one project. */
  readonly projectToken?: string
  /** Definitions to start with, such as those of a build. */
  readonly bootstrap?: DefinitionsDocument
  /** Stores the newest definitions, and provides them at the next start. */
  readonly cache?: DefinitionsCache
  /**
   * What happens to a flag whose value depends on properties or cohorts that only the server has stored. `ask` (default) requests its
   * value from the server, once per person and definitions; `local` evaluates to the reason `needs_person` and no value.
   */
  readonly storedPersons?: 'ask' | 'local'
  /** Whether evaluations are reported as `$feature_flag_called` events, once per person, flag and value. Default: true. */
  readonly exposures?: boolean
  /**
   * How definitions arrive: `stream` (default) falls back to polling where a proxy holds the stream back; `none` evaluates the
   * bootstrap only, for runtimes without background work.
   */
  readonly updates?: 'stream' | 'poll' | 'none'
  /** Default: 30,000. */
  readonly pollMilliseconds?: number
  /** Without a first byte for this long, the stream counts as blocked. Default: 5,000. */
  readonly streamTimeoutMilliseconds?: number
  /** Without contact to the server for this long, the status is `stale`. Default: 60,000. */
  readonly staleMilliseconds?: number
  /** Time limit of a request. Default: 10,000. */
  readonly requestTimeoutMilliseconds?: number
  /** Called when something fails in the background. The client goes on. Default: each message is logged to the console once an hour. */
  readonly onError?: (error: Error) => void
  /** Replaces the global `fetch`. */
  fetch?(url: string, init: FetchInit): Promise<FetchResponse>
}

/** The parts of a request and a response that are used, so that the types need neither the DOM's nor Node's. */
export interface FetchInit {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: object
}
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: unknown
  text(): Promise<string>
}

/** The options with defaults. */
export interface Settings {
  readonly url: string
  /** Undefined where the application has none, such as with an environment variable that is not set. */
  readonly key: string | undefined
  readonly query: string
  readonly pollMilliseconds: number
  readonly streamTimeoutMilliseconds: number
  readonly staleMilliseconds: number
  readonly requestTimeoutMilliseconds: number
  /** Rejects with an error that names the server and the cause. */
  readonly fetch: (url: string, init: FetchInit & { readonly signal: AbortSignal }) => Promise<FetchResponse>
  readonly report: (error: unknown) => void
}

/** Throws without an address. An invalid one shows as a failed request, and a missing key as a refused one. */
export function settingsOf(options: ClientOptions): Settings {
  const { url, key, projectToken } = (options ?? {}) as Partial<ClientOptions>
  if (!url) throw new TypeError(missingOptions(key))
  const address = String(url).replace(/\/+$/, '')
  return {
    url: address,
    key: key ? String(key) : undefined,
    query: projectToken === undefined ? '' : `token=${encodeURIComponent(projectToken)}`,
    pollMilliseconds: milliseconds(options.pollMilliseconds, 30_000),
    streamTimeoutMilliseconds: milliseconds(options.streamTimeoutMilliseconds, 5_000),
    staleMilliseconds: milliseconds(options.staleMilliseconds, 60_000),
    requestTimeoutMilliseconds: milliseconds(options.requestTimeoutMilliseconds, 10_000),
    async fetch(target, init) {
      try {
        return await (options.fetch?.(target, init) ?? globalThis.fetch(target, init as RequestInit))
      } catch (error) {
        throw init.signal.aborted ? noResponse(address, error) : notReached(address, error)
      }
    },
    report: createErrorReport(options.onError),
  }
}

const missingOptions = (key: string | undefined): string =>
  key
    ? 'createClient needs `url`, the address of the server.'
    : 'createClient needs `url`, the address of the server, and `key`, a project secret key.'

export const noResponse = (url: string, cause?: unknown): Error =>
  new Error(`The server at ${url} did not respond in time.`, { cause })

/** The reason of `fetch` is in its cause; of several addresses, each has its own. */
function notReached(url: string, error: unknown): Error {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return new Error(`The server at ${url} cannot be reached: ${cause?.message || cause?.code || message}.`, {
    cause: error,
  })
}

const timerMax = 2 ** 31 - 1

const milliseconds = (requested: number | undefined, usual: number): number =>
  requested !== undefined && requested >= 1 ? Math.min(requested, timerMax) : usual
