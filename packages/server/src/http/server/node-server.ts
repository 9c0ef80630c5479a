import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  createFastPathConnections,
  type FastPathConnections,
  type RespondFast,
} from '../../fast-path/fast-path-connections.ts'
import type { RequestHead } from '../../fast-path/parse-request-head.ts'
import type { ResponseBuffer } from '../../fast-path/response-buffer.ts'

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** Sees every request first; true means that it answers it, and the router never hears of it. */
export type TryFastPath = (request: IncomingMessage, response: ServerResponse) => boolean

/** Answers plain requests before `node:http` sees them. */
export interface PlainLane {
  /** Whether it would answer such a request, if it can do so at once. */
  takes(head: RequestHead): boolean
  readonly answer: RespondFast
  readonly room: ResponseBuffer
}

export interface NodeServers {
  create(route: RequestListener): Server
  /** Ends the connections on which nothing is under way, which Node itself would wait for, and takes no new ones. */
  beginClosing(): void
}

/** Where to listen. */
export interface Address {
  readonly host: string
  readonly port: number
}

const headersTimeoutMilliseconds = 15_000
const requestTimeoutMilliseconds = 60_000
const keepAliveTimeoutMilliseconds = 65_000
/** An answer of which a client reads nothing for so long, or at most twice that, is given up with the memory that it takes. */
const unreadTimeoutMilliseconds = 30_000
/** How often connections are looked at that take too long to say something. */
const connectionsCheckMilliseconds = 1000

const idleSweepMilliseconds = 50

export function createNodeServers(tryFastPath: TryFastPath | undefined, lane?: Omit<PlainLane, 'takes'>): NodeServers {
  const unused = new Set<Socket>()
  const plain: FastPathConnections[] = []
  const servers: Server[] = []
  let isClosing = false

  function watch(socket: Socket): void {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  }

  return {
    create(route) {
      const limits = {
        headersTimeout: headersTimeoutMilliseconds,
        requestTimeout: requestTimeoutMilliseconds,
        keepAliveTimeout: keepAliveTimeoutMilliseconds,
        connectionsCheckingInterval: connectionsCheckMilliseconds,
      }
      const server = createServer(limits, (request, response) => {
        unused.delete(request.socket)
        response.on('timeout', hangUpOnUnread)
        // Node hears nothing more on a connection that was to become something else and has not.
        if (isClosing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false
        if (!tryFastPath?.(request, response)) route(request, response)
      })
      server.timeout = unreadTimeoutMilliseconds
      // An expectation that nobody has heard of is no reason to refuse, and Node would do it without a word.
      server.on('checkExpectation', (request, response) => server.emit('request', request, response))
      servers.push(server)
      const toHttp = takeConnections(server)
      const handOver = (socket: Socket) => {
        watch(socket)
        toHttp(socket)
      }
      const connections = lane && createFastPathConnections({ ...lane, handOver, limits: server })
      if (connections) plain.push(connections)
      return server.on('connection', (socket: Socket) => {
        if (isClosing) socket.destroy()
        else if (connections) connections.serve(socket)
        else handOver(socket)
      })
    },
    beginClosing() {
      isClosing = true
      for (const socket of unused) socket.destroy()
      for (const connections of plain) connections.beginClosing()
      for (const server of servers) endIdleUntilClosed(server)
    },
  }
}

/** Resolves when the server listens. Raises what Node says when it cannot. */
export const openPort = (server: Server, address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve()
    })
  })

/** Resolves when the server no longer listens and its last connection has ended. */
export const closePort = (server: Server): Promise<void> =>
  new Promise(resolve => {
    if (server.listening) server.close(() => resolve())
    else resolve()
  })

/** Nothing has moved for a while. An answer that is still being made is no reason to hang up: nobody has to read yet. */
function hangUpOnUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

/** Node looks for idle connections once; those on which an answer was under way then would be kept for the client's next request. */
function endIdleUntilClosed(server: Server): void {
  // One that never listened is not closed either.
  if (!server.listening) return
  const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMilliseconds)
  server.once('close', () => clearInterval(sweep))
}

/** Takes the place of Node's own listener, which can be given connections later. */
function takeConnections(server: Server): (socket: Socket) => void {
  const [own] = server.listeners('connection')
  server.off('connection', own as (socket: Socket) => void)
  return socket => own!.call(server, socket)
}
