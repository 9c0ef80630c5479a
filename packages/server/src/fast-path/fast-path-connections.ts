import type { Socket } from 'node:net'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import type { Task, TickScheduler } from '../overload/tick-scheduler.ts'
import type { FastPath } from './fast-path.ts'
import { createHeadWriter, type FastResponse } from './fast-response.ts'
import { parseRequestHead, type RequestHead } from './parse-request-head.ts'

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
  readonly scheduler: TickScheduler
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
  const context: Context = {
    ...deps,
    open,
    parseHead: memoizeByKey(parsedHeadsMax, parseRequestHead),
    writeHead: createHeadWriter(),
  }
  return {
    serve(socket) {
      deps.scheduler.accepted()
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
  readonly parseHead: (text: string) => RequestHead | undefined
  readonly writeHead: ReturnType<typeof createHeadWriter>
}

class FastPathConnection implements Task {
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
    const now = performance.now()
    const begun = this.#received
    this.#receivedAt = now
    this.#received = begun === undefined ? chunk : Buffer.concat([begun, chunk])
    if (begun !== undefined) {
      this.#hasWaited = true
      this.#socket.setTimeout(this.#context.limits.keepAliveTimeout)
    }
    const mayRun = this.#context.scheduler.hasTime(now) || !this.#isEvaluation()
    if (!mayRun || this.run()) this.#schedule()
  }

  /** Nothing more is read from a client whose requests wait. */
  #schedule(): void {
    this.#isScheduled = true
    this.#socket.pause()
    this.#context.scheduler.add(this)
  }

  #resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
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
    const { fastPath, parseHead } = this.#context
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
    const response = fastPath.respond(head, {
      bytes,
      from: bodyFrom,
      to: bodyTo,
      receivedAt: this.#receivedAt,
      remoteAddress: this.#remoteAddress,
    })
    if (response === undefined) return this.#leave(bytes.subarray(from))
    return this.#send(response) ? bodyTo : this.#pauseUntilSent(bytes.subarray(bodyTo))
  }

  /** Returns whether the operating system has taken all of it. */
  #send(response: FastResponse): boolean {
    const { limits, writeHead } = this.#context
    if (!this.#hasResponded) {
      this.#hasResponded = true
      this.#socket.setTimeout(limits.keepAliveTimeout)
    }
    this.#socket.write(writeHead(response, limits.keepAliveTimeout))
    if (this.#socket.writableLength === 0) return true
    response.buffer.detach()
    return false
  }

  #waitForRest(received: Buffer): undefined {
    this.#resume()
    this.#received = received
    this.#socket.setTimeout(restMilliseconds)
  }

  /** The client reads slower than it sends: backpressure. `drain` comes only for large amounts, the callback of an empty write always. */
  #pauseUntilSent(received: Buffer): undefined {
    if (received.length > 0) this.#received = received
    this.#isSending = true
    this.#socket.pause()
    this.#socket.write(nothing, this.#onSent)
  }

  readonly #onSent = (error?: Error | null): void => {
    this.#isSending = false
    if (error || !this.#socket.writable || !this.#context.open.has(this)) return
    if (this.#received === undefined) this.#resume()
    else this.#schedule()
  }

  /** Hands the connection over, with what has not been answered. */
  #leave(received: Buffer): undefined {
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
