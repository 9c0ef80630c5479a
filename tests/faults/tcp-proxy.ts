import { connect, createServer, type Socket } from 'node:net'

/** Stands between Halyard and its database and does what networks do. */
export interface TcpProxy {
  readonly port: number
  /** Nothing passes any more, and nobody is told: a paused machine, or a cable that was cut. */
  freeze(): void
  thaw(): void
  /** Ends every connection; new ones work. */
  cut(): void
  close(): Promise<void>
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<{ near: Socket; far: Socket }>()
  let isFrozen = false
  const server = createServer(near => {
    const far = connect(target)
    const pair = { near, far }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    near.on('data', data => far.write(data))
    far.on('data', data => near.write(data))
    if (isFrozen) hold(pair)
  })
  const hold = ({ near, far }: { near: Socket; far: Socket }) => {
    near.pause()
    far.pause()
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    freeze() {
      isFrozen = true
      for (const pair of pairs) hold(pair)
    },
    thaw() {
      isFrozen = false
      for (const { near, far } of pairs) {
        near.resume()
        far.resume()
      }
    },
    cut() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
    },
    async close() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** The same database, seen through the proxy. */
export function through(proxy: TcpProxy, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  return url.href
}

export function addressOf(databaseUrl: string): { host: string; port: number } {
  const { hostname, port } = new URL(databaseUrl)
  return { host: hostname, port: Number(port || 5432) }
}
