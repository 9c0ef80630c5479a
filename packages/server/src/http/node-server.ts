import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** Sees every request first; true means that it answers it, and the router never hears of it. */
export type TakeFirst = (request: IncomingMessage, response: ServerResponse) => boolean

export interface NodeServers {
  create(route: RequestListener): Server
  /** Ends the connections on which nothing was ever asked, which Node itself would wait for, and takes no new ones. */
  beginClosing(): void
}

const headersTimeoutMilliseconds = 15_000
const requestTimeoutMilliseconds = 60_000
const keepAliveTimeoutMilliseconds = 65_000
/** How often connections are looked at that take too long to say something. */
const connectionsCheckMilliseconds = 1000

export function createNodeServers(takeFirst: TakeFirst | undefined): NodeServers {
  const unused = new Set<Socket>()
  let isClosing = false

  function watch(socket: Socket): void {
    if (isClosing) {
      socket.destroy()
      return
    }
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
        if (!takeFirst?.(request, response)) route(request, response)
      })
      return server.on('connection', watch)
    },
    beginClosing() {
      isClosing = true
      for (const socket of unused) socket.destroy()
    },
  }
}
