import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../problem.ts'
import { problemResponse } from './problem-response.ts'
import { jsonContentType, responseHeaders } from './response-headers.ts'

/** For a request that is not HTTP or arrived too slowly. Nothing more is read from such a connection. */
export function respondUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, detail] = unreadable[error.code ?? ''] ?? ['400 Bad Request', 'The request is malformed.']
  const body = JSON.stringify(problemResponse(new Problem('unparsable', detail)).body)
  const headers = {
    ...responseHeaders(randomUUID()),
    'content-type': jsonContentType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}

const unreadable: Readonly<Record<string, readonly [string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are larger than this server accepts.'],
}

/** What a proxy in front of this server might parse differently than Node does. Its connection must be closed. */
export function ambiguityOf(request: IncomingMessage): Problem | undefined {
  if (hasTwoHosts(request)) return new Problem('unparsable', 'Send one Host header, not two.')
  // Node itself refuses an encoding that does not end with chunked.
  const hasOtherCoding = /,\s*chunked\s*$/i.test(request.headers['transfer-encoding'] ?? '')
  return hasOtherCoding ? new Problem('unparsable', 'Transfer-Encoding must be chunked alone.') : undefined
}

/** Node takes the first of them, a proxy perhaps the other. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}
