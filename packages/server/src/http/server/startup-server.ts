import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Problem } from '../../problem.ts'
import { openPort } from './node-server.ts'
import { problemResponse } from './problem-response.ts'
import { acceptableRequestId, corsHeaders, jsonContentType, responseHeaders } from './response-headers.ts'

/** Responds until Halyard can: supervisors see a process that is alive and not ready, clients are asked to try again. */
export interface WaitingServer {
  /** Frees the port at once. */
  close(): Promise<void>
}

const starting = new Problem('unavailable', 'Halyard is starting and waits for its database. Try again in a moment.', {
  retryAfterSeconds: 1,
})

export async function startWaitingServer(host: string, port: number): Promise<WaitingServer> {
  const server = createServer((request, response) => {
    request.resume()
    const path = request.url?.split('?', 1)[0]?.replace(/\/$/, '') ?? ''
    const { status, headers, body } = problemResponse(starting)
    if (/^\/(_livez|livez|healthz|health)$/.test(path)) return respond(request, response, 200, { status: 'ok' })
    const isProbe = /^\/_?readyz$/.test(path)
    const state = { status: 'not ready', evaluation: 'unavailable', writes: 'unavailable', database: 'away' }
    return respond(request, response, status, isProbe ? { ...state, starting: true } : body, headers)
  })
  await openPort(server, { host, port })
  return {
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Readable for other websites: a response that a browser hides looks like a network failure. */
function respond(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const requestId = acceptableRequestId(request.headers['x-request-id']) ?? randomUUID()
  response
    .writeHead(status, {
      ...responseHeaders(requestId),
      ...corsHeaders,
      ...headers,
      'content-type': jsonContentType,
      connection: 'close',
    })
    .end(JSON.stringify(body))
}
