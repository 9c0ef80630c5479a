import type { FastResponse } from './fast-response.ts'
import type { RequestHead } from './parse-request-head.ts'
import type { ResponseMemory } from './response-batch.ts'

/**
 * Responds to requests on the raw socket, without the streams and events that `node:http` creates for each of them and that cost
 * more than most evaluations. Whatever it does not answer takes the ordinary path, which gives the same response.
 */
export interface FastPath {
  /** Whether requests like this can be answered from memory. Others are handed over to `node:http` ahead of everything that waits. */
  accepts(head: RequestHead): boolean
  /** Assembles the response in `memory`. Undefined when this one cannot be answered from what is known. */
  respond(head: RequestHead, body: ReceivedBody, memory: ResponseMemory): FastResponse | undefined
}

/** The body of a request is `bytes` from `from` to `to`. */
export interface ReceivedBody {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  /** When it was read from the socket, by `performance.now()`. */
  readonly receivedAt: number
  /** The peer of the connection, which may be a proxy. */
  readonly remoteAddress: string | undefined
}
