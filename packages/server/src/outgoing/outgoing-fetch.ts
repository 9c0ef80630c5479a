import type { Outgoing } from './outgoing.ts'

interface FetchInit {
  readonly method?: string | undefined
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  readonly body?: unknown
  readonly signal?: AbortSignal | null | undefined
}

/** The Fetch API as libraries use it. Redirects are not followed: their status is returned. */
export type OutgoingFetch = (url: string | URL, init?: FetchInit) => Promise<Response>

const timeoutMsMax = 10_000
const answerBytesMax = 1024 * 1024
const bodylessStatuses = new Set([204, 205, 304])

/** Lets a library that takes a `fetch` send its requests through the guarded client. */
export const outgoingFetch =
  (outgoing: Outgoing): OutgoingFetch =>
  async (url, { method = 'GET', headers, body, signal } = {}) => {
    const response = await outgoing.request({
      url: String(url),
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body !== undefined && body !== null && { body: body instanceof Uint8Array ? body : String(body) }),
      timeoutMsMax,
      answerBytesMax,
      redirectsMax: 0,
      ...(signal && { signal }),
    })
    const content = bodylessStatuses.has(response.status) ? null : new Uint8Array(response.body)
    return new Response(content, { status: response.status, headers: { ...response.headers } })
  }
