import type { FetchResponse } from './options.ts'

/** A response that is not a success. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly status: number
  readonly retryAfterMilliseconds: number | undefined

  constructor(message: string, status: number, retryAfterMilliseconds: number | undefined) {
    super(message)
    this.status = status
    this.retryAfterMilliseconds = retryAfterMilliseconds
  }
}

export function requestFailed(request: string, { status, headers }: FetchResponse): RequestFailed {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const wait = seconds > 0 && seconds < 3600 ? seconds * 1000 : undefined
  return new RequestFailed(`${request} returned ${status}.`, status, wait)
}

/** The code of the operating system, or of `fetch`, in the causes of an error. */
export function networkCodeOf(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') return code
  return cause === undefined ? undefined : networkCodeOf(cause)
}
