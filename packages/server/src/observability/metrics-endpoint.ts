import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

export interface MetricsAccess {
  /** A port of its own; undefined serves metrics on the main port. */
  readonly metricsPort: number | undefined
  readonly metricsToken: string | undefined
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether the request may read metrics; compared by digest, so that the duration reveals nothing. */
export const mayReadMetrics = (authorization: string | undefined, token: string | undefined): boolean =>
  token === undefined || timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))

/** Serves `/metrics` on a port of its own, if one is set, until the application closes. */
export async function openMetricsPort(
  app: FastifyInstance,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  host: string,
  { metricsPort, metricsToken }: MetricsAccess,
): Promise<Server | undefined> {
  if (metricsPort === undefined) return undefined
  const server = createServer(async (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    if (!mayReadMetrics(request.headers.authorization, metricsToken)) {
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    }
    try {
      const text = await metrics.text()
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
    } catch {
      response.writeHead(503).end()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(metricsPort, host, resolve)
  })
  app.server.once('close', () => server.close())
  return server
}
