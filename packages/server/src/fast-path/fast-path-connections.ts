import type { Socket } from 'node:net'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import { createTickScheduler, type Task, type TickScheduler } from '../overload/tick-scheduler.ts'
import type { FastPath } from './fast-path.ts'
import { createHeadWriter, type FastResponse } from './fast-response.ts'
import { parseRequestHead, type RequestHead } from './parse-request-head.ts'
import { createResponseBatch, type Recipient, type ResponseBatch } from './response-batch.ts'

/**
 * Serves connections by the fast path. At the first request that it does not answer, the connection is handed over to `node:http`,
 * together with all bytes of that request, and stays there.
 */
export interface FastPathConnections {
  serve(socket: Socket): void
  /** Ends idle connections and hands those over to `node:http` on which a request has begun to arrive. */
  beginClosing(): void
}

export interface FastPathConnectionsDeps {
  readonly fastPath: FastPath
  /** Gives a connection to `node:http`. */
  readonly handOver: (socket: Socket) => void
  readonly limits: IdleLimits
}

/** In milliseconds, read whenever they are needed. */
export interface IdleLimits {
  /** How long a new connection may be silent. */
  readonly headersTimeout: number
  /** How long a connection may be silent after a response. */
  readonly keepAliveTimeout: number
}

const headBytesMax = 4096
const bodyBytesMax = 64 * 1024
/** A client sends the same head with every request, except for the length of the body: most have been parsed before. */
const parsedHeadsMax = 512
/** A body that is incomplete for longer is left to Node, which has timeouts for that. */
const restMilliseconds = 1000
/** A connection with more pipelined requests gets this many responses, then the others are served. */
const responsesPerSliceMax = 4
const endOfHead = Buffer.from('\r\n\r\n')
const nothing = Buffer.alloc(0)

export function createFastPathConnections(deps: FastPathConnectionsDeps): FastPathConnections {
  const open = new Set<FastPathConnection>()
  const responses = createResponseBatch()
  const scheduler = createTickScheduler(responses.flush)
  const context: Context = {
    ...deps,
    open,
    responses,
    scheduler,
    parseHead: memoizeByKey(parsedHeadsMax, parseRequestHead),
    writeHead: createHeadWriter(),
  }
  return {
    serve(socket) {
      scheduler.accepted()
      new FastPathConnection(socket, context).begin()
    },
    beginClosing() {
      for (const connection of open) connection.endOrLeave()
    },
  }
}

/** What all connections share. */
interface Context extends FastPathConnectionsDeps {
  readonly open: Set<FastPathConnection>
  readonly responses: ResponseBatch
  readonly scheduler: TickScheduler
  readonly parseHead: (text: string) => RequestHead | undefined
  readonly writeHead: ReturnType<typeof createHeadWriter>
}

class FastPathConnection implements Task, Recipient {
  readonly #socket: Socket
  readonly #context: Context
  readonly #remoteAddress: string | undefined
  /** Received and not answered yet. */
  #received: Buffer | undefined
  #receivedAt = 0
  #hasResponded = false
  /** Whether the scheduler runs this connection later. */
  #isScheduled = false
  /** Whether a response is on its way that the client has not read yet. */
  #isSending = false
  /** Whether it has already waited for the rest of the request. */
  #hasWaited = false

  constructor(socket: Socket, context: Context) {
    this.#socket = socket
    this.#context = context
    this.#remoteAddress = socket.remoteAddress
  }

  begin(): void {
    this.#context.open.add(this)
    this.#socket.setTimeout(this.#context.limits.headersTimeout)
    this.#socket.on('data', this.#onData).on('timeout', this.#onTimeout)
    this.#socket.on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose)
  }

  #detach(): void {
    this.#context.open.delete(this)
    this.#socket.off('data', this.#onData).off('timeout', this.#onTimeout)
    this.#socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    const begun = this.#received
    this.#receivedAt = performance.now()
    this.#received = begun === undefined ? chunk : Buffer.concat([begun, chunk])
    if (begun !== undefined) {
      this.#hasWaited = true
      this.#socket.setTimeout(this.#context.limits.keepAliveTimeout)
    }
    if (this.#isEvaluation()) this.#schedule()
    else this.run()
  }

  /** Nothing more is read from a client whose requests wait. */
  #schedule(): void {
    this.#isScheduled = true
    this.#socket.pause()
    this.#context.scheduler.add(this)
  }

  #resume(): void {
    if (!this.#isSending && this.#socket.isPaused()) this.#socket.resume()
  }

  /** Whether the first request is one that can wait. Health probes and everything else for `node:http` cannot. */
  #isEvaluation(): boolean {
    const bytes = this.#received!
    const end = bytes.indexOf(endOfHead)
    const head = end < 0 || end > headBytesMax ? undefined : this.#context.parseHead(bytes.toString('latin1', 0, end))
    return head !== undefined && this.#context.fastPath.accepts(head)
  }

  /** Answers some of the received requests. Returns whether there are more. */
  run(): boolean {
    this.#isScheduled = false
    const bytes = this.#received
    if (bytes === undefined || this.#isSending || !this.#context.open.has(this)) return false
    this.#received = undefined
    let from = 0
    for (let count = 0; count < responsesPerSliceMax; count++) {
      const to = this.#respondNext(bytes, from)
      if (to === undefined) return false
      from = to
      this.#hasWaited = false
      if (from === bytes.length) {
        this.#resume()
        return false
      }
    }
    this.#received = bytes.subarray(from)
    // The scheduler runs it again.
    this.#isScheduled = true
    return true
  }

  /** Returns where the next request begins; undefined when this connection has to wait or belongs to Node. */
  #respondNext(bytes: Buffer, from: number): number | undefined {
    const { fastPath, parseHead, responses } = this.#context
    const end = bytes.indexOf(endOfHead, from)
    const isReadable = end >= 0 && end - from <= headBytesMax
    const head = isReadable ? parseHead(bytes.toString('latin1', from, end)) : undefined
    if (head === undefined || head.bodyBytes > bodyBytesMax || !fastPath.accepts(head)) {
      return this.#leave(bytes.subarray(from))
    }
    const bodyFrom = end + endOfHead.length
    const bodyTo = bodyFrom + head.bodyBytes
    if (bodyTo > bytes.length) {
      // Waiting once is enough: collecting what dribbles in would cost more with every chunk.
      return this.#hasWaited ? this.#leave(bytes.subarray(from)) : this.#waitForRest(bytes.subarray(from))
    }
    const body = { bytes, from: bodyFrom, to: bodyTo, receivedAt: this.#receivedAt, remoteAddress: this.#remoteAddress }
    const response = fastPath.respond(head, body, responses)
    if (response === undefined) return this.#leave(bytes.subarray(from))
    this.#send(response)
    return bodyTo
  }

  #send(response: FastResponse): void {
    const { limits, responses, writeHead } = this.#context
    if (!this.#hasResponded) {
      this.#hasResponded = true
      this.#socket.setTimeout(limits.keepAliveTimeout)
    }
    responses.add(writeHead(response, limits.keepAliveTimeout), this)
  }

  /** The client reads slower than it sends: backpressure. */
  write(response: Buffer): boolean {
    this.#socket.write(response)
    if (this.#socket.writableLength === 0) return true
    if (!this.#isSending) {
      this.#isSending = true
      this.#socket.setTimeout(this.#context.limits.keepAliveTimeout)
      this.#socket.pause()
      this.#notifyWhenSent()
    }
    return false
  }

  /** `drain` comes only for large amounts, the callback of an empty write always. */
  #notifyWhenSent(): void {
    this.#socket.write(nothing, this.#onSent)
  }

  #waitForRest(received: Buffer): undefined {
    this.#resume()
    this.#received = received
    this.#socket.setTimeout(restMilliseconds)
  }

  readonly #onSent = (error?: Error | null): void => {
    const isUsable = !error && this.#socket.writable && this.#context.open.has(this)
    // Another response may have been written since.
    if (isUsable && this.#socket.writableLength > 0) {
      this.#notifyWhenSent()
      return
    }
    this.#isSending = false
    if (!isUsable) return
    if (this.#received === undefined) this.#resume()
    else if (!this.#isScheduled) this.#schedule()
  }

  /** Hands the connection over, with what has not been answered, as soon as all responses have been sent. */
  #leave(received: Buffer): undefined {
    this.#context.responses.flush()
    if (this.#isSending) {
      this.#received = received
      return
    }
    this.#detach()
    this.#socket.setTimeout(0)
    this.#resume()
    this.#context.handOver(this.#socket)
    if (received.length > 0) this.#socket.unshift(received)
  }

  endOrLeave(): void {
    const received = this.#received
    if (received === undefined || this.#isSending) {
      this.#socket.destroySoon()
      return
    }
    this.#received = undefined
    this.#leave(received)
  }

  /** When the event loop is late, bytes that arrived in time may not have been read yet. They are read first. */
  readonly #onTimeout = (): void => {
    const { bytesRead } = this.#socket
    setImmediate(() => {
      if (this.#context.open.has(this) && !this.#isScheduled && this.#socket.bytesRead === bytesRead) this.#giveUp()
    })
  }

  #giveUp(): void {
    const received = this.#received
    if (received === undefined || this.#isSending) {
      this.#socket.destroy()
      return
    }
    this.#received = undefined
    this.#leave(received)
  }

  readonly #onEnd = (): void => void this.#socket.end()
  readonly #onError = (): void => void this.#socket.destroy()
  readonly #onClose = (): void => this.#detach()
}
