import type { ClientOptions, FetchInit, FetchResponse } from './options.ts'
import { createErrorReport } from './report-errors.ts'

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
