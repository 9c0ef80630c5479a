export interface ConformanceOptions {
  /** The address before `/ofrep/v1`. */
  readonly url: string
  /** Headers of each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The evaluation context. Default: a targeting key only. */
  readonly context?: Readonly<Record<string, unknown>>
  /** The key of an existing flag. Default: the first one of the bulk response. */
  readonly flagKey?: string
  /** Time limit of a request. Default: 10,000. */
  readonly timeoutMilliseconds?: number
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined when the body is not JSON. */
  readonly json: unknown
}

/** Sends the requests of the checks. */
export interface ServerUnderTest {
  readonly options: ConformanceOptions
  readonly context: Readonly<Record<string, unknown>>
  bulk(body: unknown, more?: RequestMore): Promise<Reply>
  single(key: string, body: unknown, more?: RequestMore): Promise<Reply>
  /** Only the head of the response; a stream would never end. */
  head(url: string, init?: RequestInit): Promise<{ readonly status: number; readonly headers: Headers }>
  readonly bulkUrl: string
}

export interface RequestMore {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  /** Leaves the credential out. */
  readonly anonymous?: boolean
}

export function serverUnderTest(options: ConformanceOptions): ServerUnderTest {
  const base = `${options.url.replace(/\/+$/, '')}/ofrep/v1/evaluate/flags`
  const timeout = () => AbortSignal.timeout(options.timeoutMilliseconds ?? 10_000)

  async function post(url: string, body: unknown, { headers, query, anonymous }: RequestMore = {}): Promise<Reply> {
    const response = await fetch(query === undefined ? url : `${url}?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(anonymous ? {} : options.headers), ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: timeout(),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  }

  return {
    options,
    context: options.context ?? { targetingKey: 'ofrep-conformance' },
    bulkUrl: base,
    bulk: (body, more) => post(base, body, more),
    single: (key, body, more) => post(`${base}/${encodeURIComponent(key)}`, body, more),
    async head(url, init) {
      const response = await fetch(url, { ...init, signal: timeout() })
      await response.body?.cancel()
      return { status: response.status, headers: response.headers }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
