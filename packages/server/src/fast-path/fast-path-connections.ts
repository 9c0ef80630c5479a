import type { Socket } from 'node:net'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import { createHeadWriter, type FastResponse } from './fast-response.ts'
import { parseRequestHead, type ReadRequestHead, type RequestHead } from './parse-request-head.ts'
import type { ResponseBuffer } from './response-buffer.ts'

/** Answers a plain request at once from memory, or not at all. Its body is `bytes` from `from` to `to`. */
export type RespondFast = (head: RequestHead, bytes: Buffer, from: number, to: number) => FastResponse | undefined

/**
 * Serves connections on which only plain requests come that can be answered at once, which is how evaluations are asked for, without the
 * streams and events that `node:http` makes for every request and that cost more than most evaluations. At the first request that is
 * anything else, the connection goes to `node:http`, together with all bytes of that request, and stays there.
 */
export interface FastPathConnections {
  serve(socket: Socket): void
  /** Ends connections that are idle and gives those to `node:http` on which something has begun to come. */
  beginClosing(): void
}

export interface FastPathConnectionsDeps {
  readonly answer: RespondFast
  /** Where the answers lie. */
  readonly room: ResponseBuffer
  /** Gives a connection to `node:http`. */
  readonly handOver: (socket: Socket) => void
  readonly limits: IdleLimits
}

/** In milliseconds, read whenever they are needed. */
export interface IdleLimits {
  /** How long a new connection may say nothing. */
  readonly headersTimeout: number
  /** How long one may say nothing after an answer. */
  readonly keepAliveTimeout: number
}

const headBytesMax = 4096
const bodyBytesMax = 64 * 1024
/** A client says the same with every request, but for the length of the body: most heads have been read before. */
const headsMax = 512
/** A body that has not come after so long is Node's to wait for, which knows when to give up. */
const restMilliseconds = 1000
/** Who has sent thousands of requests at once gets so many answers in a row, and then the others have their turn. */
const answersInTurnMax = 64
const endOfHead = Buffer.from('\r\n\r\n')
const nothing = Buffer.alloc(0)
/** Instead of a place among the bytes: the connection waits, or is Node's. */
const done = -1

export function createFastPathConnections(deps: FastPathConnectionsDeps): FastPathConnections {
  const open = new Set<FastPathConnection>()
  const kit: Kit = { ...deps, open, readHead: memoizeByKey(headsMax, parseRequestHead), writeHead: createHeadWriter() }
  return {
    serve: socket => new FastPathConnection(socket, kit).begin(),
    beginClosing() {
      for (const connection of open) connection.endOrLeave()
    },
  }
}

/** What all connections have in common. */
interface Kit extends FastPathConnectionsDeps {
  readonly open: Set<FastPathConnection>
  readonly readHead: ReadRequestHead
  readonly writeHead: ReturnType<typeof createHeadWriter>
}

class FastPathConnection {
  readonly #socket: Socket
  readonly #kit: Kit
  /** What has come and is not answered yet. */
  #unanswered: Buffer | undefined
  #hasAnswered = false

  constructor(socket: Socket, kit: Kit) {
    this.#socket = socket
    this.#kit = kit
  }

  begin(): void {
    this.#kit.open.add(this)
    this.#socket.setTimeout(this.#kit.limits.headersTimeout)
    this.#socket.on('data', this.#onData).on('timeout', this.#onTimeout)
    this.#socket.on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose)
  }

  #detach(): void {
    this.#kit.open.delete(this)
    this.#socket.off('data', this.#onData).off('timeout', this.#onTimeout)
    this.#socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    const begun = this.#unanswered
    if (begun === undefined) {
      this.#answerAll(chunk, true)
      return
    }
    this.#unanswered = undefined
    this.#socket.setTimeout(this.#kit.limits.keepAliveTimeout)
    // Waiting once is enough: to gather what dribbles in would cost more with every piece.
    this.#answerAll(Buffer.concat([begun, chunk]), false)
  }

  /** Answers what can be answered, and keeps or gives away the rest. */
  #answerAll(bytes: Buffer, mayWait: boolean): void {
    let from = 0
    for (let count = 0; count < answersInTurnMax; count++) {
      from = this.#answerNext(bytes, from, mayWait)
      if (from === done || from === bytes.length) return
    }
    this.#pause(bytes.subarray(from))
    setImmediate(this.#goOn)
  }

  /** Gives the place where the request after this one begins, or `done`. */
  #answerNext(bytes: Buffer, from: number, mayWait: boolean): number {
    const end = bytes.indexOf(endOfHead, from)
    const isReadable = end >= 0 && end - from <= headBytesMax
    const head = isReadable ? this.#kit.readHead(bytes.toString('latin1', from, end)) : undefined
    if (head === undefined || head.bodyBytes > bodyBytesMax) return this.#leave(bytes.subarray(from))
    const bodyFrom = end + endOfHead.length
    const bodyTo = bodyFrom + head.bodyBytes
    if (bodyTo > bytes.length && mayWait) return this.#wait(bytes.subarray(from))
    const answer = bodyTo > bytes.length ? undefined : this.#kit.answer(head, bytes, bodyFrom, bodyTo)
    if (answer === undefined) return this.#leave(bytes.subarray(from))
    return this.#send(answer) ? bodyTo : this.#pauseUntilSent(bytes.subarray(bodyTo))
  }

  /** Answers whether everything is on its way. */
  #send(answer: FastResponse): boolean {
    const { limits, room, writeHead } = this.#kit
    if (!this.#hasAnswered) {
      this.#hasAnswered = true
      this.#socket.setTimeout(limits.keepAliveTimeout)
    }
    this.#socket.write(writeHead(answer, limits.keepAliveTimeout))
    if (this.#socket.writableLength === 0) return true
    room.leave()
    return false
  }

  /** For the rest of a body. */
  #wait(unanswered: Buffer): typeof done {
    this.#unanswered = unanswered
    this.#socket.setTimeout(restMilliseconds)
    return done
  }

  /** Nothing more is read from the client: it does not read as fast as it asks, or has had its turn. */
  #pause(unanswered: Buffer): typeof done {
    if (unanswered.length > 0) this.#unanswered = unanswered
    this.#socket.pause()
    return done
  }

  /** A connection tells of having drained only when much had gathered; but a write of nothing is done when all before it is. */
  #pauseUntilSent(unanswered: Buffer): typeof done {
    this.#socket.write(nothing, this.#onSent)
    return this.#pause(unanswered)
  }

  readonly #onSent = (error?: Error | null): void => {
    if (!error && this.#socket.writable) this.#goOn()
  }

  readonly #goOn = (): void => {
    if (!this.#kit.open.has(this)) return
    const rest = this.#unanswered
    this.#unanswered = undefined
    this.#socket.resume()
    if (rest !== undefined) this.#answerAll(rest, true)
  }

  /** Gives the connection away, what has not been answered first. */
  #leave(unanswered: Buffer): typeof done {
    this.#detach()
    this.#socket.setTimeout(0)
    this.#kit.handOver(this.#socket)
    if (unanswered.length > 0) this.#socket.unshift(unanswered)
    return done
  }

  endOrLeave(): void {
    if (this.#unanswered === undefined || this.#socket.isPaused()) this.#socket.destroySoon()
    else this.#leave(this.#unanswered)
  }

  /** When the event loop is late, what the client has said in time lies there unread: it is heard first. */
  readonly #onTimeout = (): void => {
    const { bytesRead } = this.#socket
    setImmediate(() => {
      if (this.#kit.open.has(this) && this.#socket.bytesRead === bytesRead) this.#giveUp()
    })
  }

  #giveUp(): void {
    if (this.#unanswered === undefined || this.#socket.isPaused()) this.#socket.destroy()
    else this.#leave(this.#unanswered)
  }

  readonly #onEnd = (): void => void this.#socket.end()
  readonly #onError = (): void => void this.#socket.destroy()
  readonly #onClose = (): void => this.#detach()
}
