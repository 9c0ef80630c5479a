import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What could not even be read as HTTP, or did not come in time. Nothing more is read from such a connection. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, detail] = unreadable[error.code ?? ''] ?? ['400 Bad Request', 'The request could not be read.']
  const body = parseError(detail)
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

const unreadable: Readonly<Record<string, readonly [string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not come in time.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are larger than this server accepts.'],
}

const parseError = (detail: string): string =>
  JSON.stringify({ type: 'invalid_request', code: 'parse_error', detail, attr: null })

/** What a proxy before this server might read otherwise than Node does. True when the request was answered 400. */
export function refuseAmbiguous(request: IncomingMessage, response: ServerResponse): boolean {
  // What does not end with chunked is refused by Node itself.
  const hasOtherCoding = /,\s*chunked\s*$/i.test(request.headers['transfer-encoding'] ?? '')
  const fault = hasTwoHosts(request)
    ? 'The request names two hosts.'
    : hasOtherCoding
      ? 'The only Transfer-Encoding is chunked.'
      : undefined
  if (fault === undefined) return false
  response.writeHead(400, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
  response.end(parseError(fault))
  return true
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
