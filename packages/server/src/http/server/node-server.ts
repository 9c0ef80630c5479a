import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextEvents } from 'node:timers/promises'

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

export interface NodeServers {
  create(route: RequestListener): Server
  /** Accepts the connections that wait, then ends idle ones, which Node itself would wait for, and accepts no more. */
  beginClosing(): Promise<void>
}

/** Where to listen. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Responds to a request before the application does, or passes it on. */
export type FirstListener = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void

/** Connections that the operating system holds until they are accepted; it may have a lower limit of its own. */
export const listenBacklog = 4096

const headersTimeoutMilliseconds = 15_000
const requestTimeoutMilliseconds = 60_000
const keepAliveTimeoutMilliseconds = 65_000
/** A response of which the client reads nothing for this long, or at most twice as long, is given up with its memory. */
const unreadTimeoutMilliseconds = 30_000
/** How often connections are checked for those timeouts. */
const connectionsCheckMilliseconds = 1000

const idleSweepMilliseconds = 50
/** How long clients that keep connecting can delay the end. */
const acceptMillisecondsMax = 2000

export function createNodeServers(
  first: FirstListener = (_request, _response, pass) => pass(),
  isStopping: () => boolean = () => false,
): NodeServers {
  const unused = new Set<Socket>()
  const servers: Server[] = []
  let acceptedCount = 0
  let isClosing = false

  function watch(socket: Socket): void {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  }

  /** Node accepts one connection in each round of events, and reads its request in the next. */
  async function acceptWaiting(): Promise<void> {
    const deadline = performance.now() + acceptMillisecondsMax
    let before: number
    do {
      before = acceptedCount
      await nextEvents()
      await nextEvents()
    } while (acceptedCount !== before && performance.now() < deadline)
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
        response.on('timeout', destroyUnread)
        // Node reads nothing more on a connection whose upgrade was not accepted.
        if (isClosing || isStopping() || request.headers.upgrade !== undefined) response.shouldKeepAlive = false
        first(request, response, () => route(request, response))
      })
      server.timeout = unreadTimeoutMilliseconds
      // An unknown expectation is no reason to refuse, and Node would do it without a body.
      server.on('checkExpectation', (request, response) => server.emit('request', request, response))
      servers.push(server)
      return server.on('connection', (socket: Socket) => {
        acceptedCount++
        if (isClosing) socket.destroy()
        else watch(socket)
      })
    },
    async beginClosing() {
      await acceptWaiting()
      isClosing = true
      for (const socket of unused) socket.destroy()
      for (const server of servers) endIdleUntilClosed(server)
    },
  }
}

/** Resolves when the server listens. Rejects with Node's error when it cannot. */
export const openPort = (server: Server, address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...address, backlog: listenBacklog }, () => {
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

/** Nothing was sent for a while. A response that is still being computed is no reason to disconnect. */
function destroyUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

/** Node checks for idle connections once; those that were busy then would stay open for the client's next request. */
function endIdleUntilClosed(server: Server): void {
  // A server that never listened is not closed either.
  if (!server.listening) return
  const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMilliseconds)
  server.once('close', () => clearInterval(sweep))
}
