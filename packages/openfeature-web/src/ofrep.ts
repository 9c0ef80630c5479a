/** One flag as OFREP has it. */
export interface OfrepFlag {
  readonly key: string
  readonly value?: unknown
  readonly reason?: string
  readonly variant?: string
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly errorCode?: string
  readonly errorDetails?: string
}

/** The values of all flags for one context. Serializable, so that a server can render with it and a browser start with it. */
export interface FlagSnapshot {
  readonly flags: readonly OfrepFlag[]
  readonly etag?: string
  /** Addresses of streams that announce changes. A path is one of the server that was asked, by whatever address a client knows it. */
  readonly streams: readonly string[]
  /** Of all flags: `flagSetId` is the id of the project. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  /** The server did not accept the overrides of the request: they are tampered with, of another project, or not signed. */
  readonly areOverridesInvalid?: true
}

export interface OfrepRequest {
  readonly url: string
  /** The project token, `phc_…`. */
  readonly token: string
  readonly context: object
  /** From an earlier snapshot of the same context. */
  readonly etag?: string | undefined
  /** Signed values of flags; see `@halyard/openfeature-web/toolbar`. */
  readonly overrides?: string | undefined
  readonly signal?: AbortSignal
}

export class OfrepFailure extends Error {
  readonly status: number
  readonly errorCode: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, message: string, errorCode?: string, retryAfterSeconds?: number) {
    super(message)
    this.name = 'OfrepFailure'
    this.status = status
    this.errorCode = errorCode
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Evaluates all flags on the server. Undefined when nothing has changed since the ETag. Rejects with OfrepFailure. */
export async function fetchSnapshot(request: OfrepRequest): Promise<FlagSnapshot | undefined> {
  const { url, token, context, etag, overrides, signal } = request
  const base = url.replace(/\/+$/, '')
  const response = await fetch(`${base}/ofrep/v1/evaluate/flags`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(etag !== undefined && { 'if-none-match': etag }),
      ...(overrides !== undefined && { 'x-halyard-overrides': overrides }),
    },
    body: JSON.stringify({ context }),
    ...(signal && { signal }),
  })
  if (response.status === 304) return undefined
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status !== 200 || !isRecord(body) || !Array.isArray(body.flags)) {
    const { errorCode, errorDetails } = (isRecord(body) ? body : {}) as { errorCode?: string; errorDetails?: string }
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const message = errorDetails ?? `POST /ofrep/v1/evaluate/flags returned ${response.status}.`
    throw new OfrepFailure(response.status, message, errorCode, seconds > 0 ? seconds : undefined)
  }
  const newEtag = response.headers.get('etag')
  return {
    flags: body.flags as OfrepFlag[],
    streams: streamsIn(body.eventStreams),
    ...(isRecord(body.metadata) && { metadata: body.metadata as NonNullable<FlagSnapshot['metadata']> }),
    ...(newEtag !== null && { etag: newEtag }),
    ...(response.headers.get('x-halyard-overrides') === 'invalid' && { areOverridesInvalid: true as const }),
  }
}

function streamsIn(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((stream: unknown) => {
    if (!isRecord(stream) || stream.type !== 'sse') return []
    if (typeof stream.url === 'string') return [stream.url]
    const { requestUri, origin } = (isRecord(stream.endpoint) ? stream.endpoint : {}) as Record<string, unknown>
    if (typeof requestUri !== 'string') return []
    return [typeof origin === 'string' ? origin + requestUri : requestUri]
  })
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
