import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface ReceivedEmail {
  readonly to: readonly string[]
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface SmtpServer {
  readonly url: string
  /** What was accepted, in order. */
  readonly received: ReceivedEmail[]
  /** The reply to a recipient; 250 accepts it. */
  replyTo: (recipient: string) => string
  close(): void
}

/** A mail server on loopback that speaks as much SMTP as a client needs. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const received: ReceivedEmail[] = []
  const smtp = { received, replyTo: (_recipient: string) => '250 OK' }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.setEncoding('utf8').on('error', () => {}))
    socket.on('close', () => sockets.delete(socket))
    let buffer = ''
    let to: string[] = []
    let isData = false
    socket.write('220 test\r\n')
    socket.on('data', chunk => {
      buffer += chunk
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n'
        const at = buffer.indexOf(end)
        if (at < 0) return
        const line = buffer.slice(0, at)
        buffer = buffer.slice(at + end.length)
        if (isData) {
          isData = false
          received.push({ to, ...parse(line) })
          to = []
          socket.write('250 queued\r\n')
        } else socket.write(`${replyOf(line)}\r\n`)
      }
    })
    function replyOf(line: string): string {
      const command = line.slice(0, 4).toUpperCase()
      if (command === 'RCPT') {
        const recipient = /<(.*)>/.exec(line)?.[1] ?? ''
        const reply = smtp.replyTo(recipient)
        if (reply.startsWith('250')) to.push(recipient)
        return reply
      }
      if (command === 'DATA') {
        isData = true
        return '354 go ahead'
      }
      if (command === 'QUIT') return '221 bye'
      return '250 OK'
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(smtp, {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
}

function parse(message: string): Pick<ReceivedEmail, 'headers' | 'text'> {
  const [head = '', ...body] = message.split('\r\n\r\n')
  const headers = head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  const text = body.join('\n\n').replaceAll('\r\n', '\n')
  const known: Record<string, string> = Object.fromEntries(headers)
  const isEncoded = known['content-transfer-encoding'] === 'quoted-printable'
  return { headers: known, text: isEncoded ? quotedPrintable(text) : text }
}

const quotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replace(/=\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
