/** One response, as it is logged. */
export interface AccessLogEntry {
  readonly reqId?: string
  readonly method: string
  readonly route: string
  /** Without the query and without invitation tokens. */
  readonly path: string
  readonly status: number
  readonly milliseconds: number
  readonly bytes: number | undefined
  readonly ip: string | undefined
  readonly project: number | undefined
}

/** Which evaluation requests are logged. All other requests always are. */
export type AccessLogMode = 'errors' | 'sampled' | 'all' | 'off'

export interface AccessLog {
  /** Whether to log the response to an evaluation request. Called once per response, so that it can sample. */
  wants(status: number): boolean
}

/** With `sampled`, one in this many successful responses is logged. */
const sampleInterval = 100

export function createAccessLog(mode: AccessLogMode): AccessLog {
  let count = 0
  return {
    wants(status) {
      if (mode === 'off') return false
      if (mode === 'all' || status >= 400) return true
      return mode === 'sampled' && count++ % sampleInterval === 0
    },
  }
}

/** The event name of an access log line. */
export const accessLogEvent = 'http_request'

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/** An invitation is redeemed by the token in its path, which must not be read from a log or a trace. */
export const loggedPath = (url: string): string => pathOf(url).replace(/^((?:\/api)?\/signup\/)[^/]+/, '$1…')

export const roundedMilliseconds = (milliseconds: number): number => Math.round(milliseconds * 10) / 10
