import { createServer, type ServerResponse } from 'node:http'
import { openPort } from '../http/server/node-server.ts'

/** Answers in Halyard's place until it can: supervisors see a living process that is not ready, everybody else is asked to come again. */
export interface WaitingServer {
  /** Frees the port, at once. */
  close(): Promise<void>
}

const retryAfterSeconds = 1
const detail = 'Halyard is starting and waits for its database. Try again in a moment.'

export async function startWaitingServer(host: string, port: number): Promise<WaitingServer> {
  const server = createServer((request, response) => {
    request.resume()
    const path = request.url?.split('?', 1)[0]?.replace(/\/$/, '')
    if (path === '/_livez') return answer(response, 200, { status: 'ok' })
    if (path === '/_readyz') return answer(response, 503, { status: 'not ready', database: 'away', starting: true })
    return answer(response, 503, { type: 'server_error', code: 'unavailable', detail, attr: null })
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

/** Pages on other sites are told as well: an answer that a browser hides looks like a network that is down. */
function answer(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      connection: 'close',
      ...(status === 503 && { 'retry-after': String(retryAfterSeconds) }),
    })
    .end(JSON.stringify(body))
}
