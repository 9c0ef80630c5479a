/** What the user can fix: the message says what is wrong and what to do. Commands print it without a stack trace. */
export class ExplainedError extends Error {}

/**
 * The one error class of the server. Domain and storage throw it with a kind and a whole sentence; `http/problem-response.ts`
 * alone knows status numbers. Anything else that is thrown is a bug and is answered 500 without detail.
 */
export type ProblemKind =
  | 'invalid'
  | 'unparsable'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'method_not_allowed'
  | 'conflict'
  | 'approval_required'
  | 'too_large'
  | 'unsupported_media'
  | 'throttled'
  | 'unavailable'

interface ProblemDetails {
  /** Machine-readable; each kind has its own default. */
  readonly code?: string
  /** The field at fault, nested names joined by `__`. */
  readonly field?: string | null
  readonly retryAfterSeconds?: number
  readonly allow?: readonly string[]
  /** Further members of the response body. */
  readonly extra?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const messageCharactersMax = 2000
const controlCharacters = /[^\P{Cc}\n\t]/gu

/** Messages quote what was sent, which may be a megabyte or what no database stores, and some of them are stored. */
function quotable(message: string): string {
  const isLong = message.length > messageCharactersMax
  const text = isLong ? `${message.slice(0, messageCharactersMax)}…` : message
  return text.toWellFormed().replace(controlCharacters, '\ufffd')
}

export class Problem extends ExplainedError {
  readonly kind: ProblemKind
  readonly code: string | undefined
  readonly field: string | null
  readonly retryAfterSeconds: number | undefined
  readonly allow: readonly string[] | undefined
  readonly extra: Readonly<Record<string, unknown>> | undefined

  constructor(kind: ProblemKind, message: string, details: ProblemDetails = {}) {
    super(quotable(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Problem'
    this.kind = kind
    this.code = details.code
    this.field = details.field ?? null
    this.retryAfterSeconds = details.retryAfterSeconds
    this.allow = details.allow
    this.extra = details.extra
  }
}

export const invalid = (field: string | null, code: string, message: string): Problem =>
  new Problem('invalid', message, { field, code })

export const missing = (what: string): Problem => new Problem('missing', `${what} not found.`)

export const forbidden = (message: string): Problem => new Problem('forbidden', message)

/** The load balancer sends the next attempt to another node. */
export const stopping = (): Problem =>
  new Problem('unavailable', 'This server is stopping. Try again.', { retryAfterSeconds: 1 })
