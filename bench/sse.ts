import { connect, type Socket } from 'node:net'

/** A stream of server-sent events over a raw socket. */
export interface Stream {
  /** Resolves with the arrival time (`performance.now()`) of the next chunk that contains this text. */
  arrival(text: string): Promise<number>
  close(): void
}

export function openStream(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  localAddress = '127.0.0.1',
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    const waiting = new Map<string, (at: number) => void>()
    let isOpen = false
    socket.on('error', reject)
    socket.on('connect', () => {
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}\r\n`)
    })
    socket.on('data', chunk => {
      const at = performance.now()
      const text = chunk.toString('latin1')
      if (!isOpen && !text.startsWith('HTTP/1.1 200')) reject(new Error(`No stream: ${text.slice(0, 200)}`))
      if (!isOpen) resolve(stream)
      isOpen = true
      for (const [wanted, resolveArrival] of waiting) {
        if (!text.includes(wanted)) continue
        waiting.delete(wanted)
        resolveArrival(at)
      }
    })
    const stream: Stream = {
      arrival: text => new Promise(resolveArrival => waiting.set(text, resolveArrival)),
      close: () => socket.destroy(),
    }
  })
}
