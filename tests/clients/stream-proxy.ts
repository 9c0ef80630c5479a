import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy as applications meet them. */
export interface StreamProxy {
  readonly url: string
  /** Paths that were requested, in order. */
  readonly requested: string[]
  /** Holds event streams back, as a proxy does that buffers whole responses. */
  buffersStreams: boolean
  /** Drops what event streams send. */
  losesEvents: boolean
  /** The number of dropped chunks. */
  readonly lost: number
  /** Answers everything with 502, as while the server is down. */
  isDown: boolean
  /** Closes all open connections. */
  cut(): void
  close(): Promise<void>
}

export async function startStreamProxy(target: string): Promise<StreamProxy> {
  const requested: string[] = []
  let lost = 0
  const server = createServer((incoming, outgoing) => {
    requested.push(`${incoming.method} ${incoming.url}`)
    if (proxy.isDown) {
      incoming.resume()
      outgoing.writeHead(502, { connection: 'close' }).end('Bad gateway')
      return
    }
    const upstream = request(
      `${target}${incoming.url}`,
      { method: incoming.method!, headers: incoming.headers },
      response => {
        const isStream = response.headers['content-type']?.startsWith('text/event-stream')
        if (isStream && proxy.buffersStreams) return void response.resume()
        outgoing.writeHead(response.statusCode!, response.headers)
        if (isStream) {
          response.on('data', chunk => {
            if (proxy.losesEvents) lost += 1
            else outgoing.write(chunk)
          })
          response.on('end', () => outgoing.end())
        } else response.pipe(outgoing)
        response.on('error', () => outgoing.destroy())
      },
    )
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const proxy: StreamProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    buffersStreams: false,
    losesEvents: false,
    get lost() {
      return lost
    },
    isDown: false,
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return proxy
}
