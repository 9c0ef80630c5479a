import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy between the server and its database that injects network faults. */
export interface TcpProxy {
  readonly port: number
  /** Silently drops all traffic, like a paused machine or a cut cable. */
  freeze(): void
  /** Forwards traffic again. */
  thaw(): void
  /** Closes every connection; new ones work. */
  cut(): void
  /** Closes every connection and rejects new ones, like a stopped server. */
  refuse(): void
  /** Accepts connections again. */
  admit(): void
  /** Forwards requests but drops responses: a half-open connection. */
  deafen(): void
  /**
   * Silently freezes the next connection that sends `commit` after a change: the `commit` is lost, or arrives and its response is lost.
   */
  silenceCommit(isLost: boolean): void
  /** Number of connections that were ever accepted. */
  readonly acceptedCount: number
  /** Number of frozen connections that are still open. */
  readonly silentCount: number
  close(): Promise<void>
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<{ near: Socket; far: Socket }>()
  const silentPairs = new Set<object>()
  let acceptedCount = 0
  let isFrozen = false
  let isRefusing = false
  let isDeaf = false
  let silencing: 'lost' | 'unanswered' | undefined
  /** Statements on the change log are prepared once per connection; afterwards only their names are sent. */
  const changeNames = new Set<string>()
  const isAboutChanges = (data: Buffer): boolean => {
    const text = data.toString('latin1')
    for (const [, name] of text.matchAll(/([\w-]{27})\0[^\0]*change_head/g)) changeNames.add(`${name}\0`)
    return text.includes('change_head') || [...changeNames].some(name => text.includes(name))
  }
  const server = createServer(near => {
    acceptedCount += 1
    if (isRefusing) {
      near.destroy()
      return
    }
    const far = connect(target)
    const pair = { near, far }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      silentPairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    let isSilent = false
    let isChanging = false
    near.on('data', data => {
      if (isSilent) return
      isChanging ||= isAboutChanges(data)
      const isCommit = isChanging && data.includes('commit\0')
      if (isCommit) isChanging = false
      isSilent = isCommit && silencing !== undefined
      const isLost = isSilent && silencing === 'lost'
      if (isSilent) {
        silencing = undefined
        silentPairs.add(pair)
      }
      if (!isLost) far.write(data)
    })
    far.on('data', data => {
      if (!isDeaf && !isSilent) near.write(data)
    })
    if (isFrozen) hold(pair)
  })
  const hold = ({ near, far }: { near: Socket; far: Socket }) => {
    near.pause()
    far.pause()
  }
  const endAll = () => {
    for (const { near, far } of pairs) {
      near.destroy()
      far.destroy()
    }
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
      isDeaf = false
      for (const { near, far } of pairs) {
        near.resume()
        far.resume()
      }
    },
    cut: endAll,
    refuse() {
      isRefusing = true
      endAll()
    },
    admit() {
      isRefusing = false
    },
    deafen() {
      isDeaf = true
    },
    silenceCommit(isLost) {
      silencing = isLost ? 'lost' : 'unanswered'
    },
    get acceptedCount() {
      return acceptedCount
    },
    get silentCount() {
      return silentPairs.size
    },
    async close() {
      endAll()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** The URL of the same database through the proxy. */
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
