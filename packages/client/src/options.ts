import type { DefinitionsDocument } from './definitions/definitions.ts'

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
