import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

export interface Readiness {
  /** Resolves when the database answers; rejects when it does not. */
  ping(): Promise<void>
  isDraining(): boolean
}

const pingMillisecondsMax = 2000

/** What a supervisor asks: is the process up, can it serve, and how is it doing? */
export function serveOperations(app: FastifyInstance, readiness: Readiness, metrics: Metrics): void {
  app.get('/_livez', async () => ({ status: 'ok' }))

  app.get('/_readyz', async (_request, reply) => {
    const database = await answersInTime(readiness.ping())
    const isReady = database && !readiness.isDraining()
    reply.code(isReady ? 200 : 503)
    return {
      status: isReady ? 'ready' : 'not ready',
      database: database ? 'ok' : 'away',
      ...(readiness.isDraining() && { draining: true }),
    }
  })

  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}

async function answersInTime(ping: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, pingMillisecondsMax, false)
  })
  const inTime = ping.then(
    () => true,
    () => false,
  )
  return Promise.race([inTime, late]).finally(() => clearTimeout(timer))
}
