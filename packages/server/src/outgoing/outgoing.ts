/**
 * Requests that leave the service for an address that a user, a plugin or a registry chose. The port promises that none
 * of them reaches a private network: not directly, not through a name that resolves there, not through a redirect.
 */
export interface Outgoing {
  /** Returns the response with its whole body. Raises an `OutgoingFailure`. */
  request(request: OutgoingRequest): Promise<OutgoingAnswer>
  close(): Promise<void>
}

export interface OutgoingRequest {
  url: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Whole request, redirects and body included. */
  timeoutMsMax: number
  answerBytesMax: number
  /** Cancels the request and closes the connection. */
  signal?: AbortSignal | undefined
  redirectsMax?: number
  /** Further hosts that a redirect must stay within; absent means any public host. */
  mayVisit?: (url: URL) => boolean
}

export interface OutgoingAnswer {
  status: number
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Where the response came from, after redirects. */
  url: string
}

/** `aborted`: canceled by the caller; `refused`: the target is not allowed; `unreachable`: not connected, or closed early. */
export type OutgoingFailureKind = 'aborted' | 'refused' | 'timeout' | 'too_large' | 'unreachable'

export class OutgoingFailure extends Error {
  readonly kind: OutgoingFailureKind

  constructor(kind: OutgoingFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutgoingFailure'
    this.kind = kind
  }
}
