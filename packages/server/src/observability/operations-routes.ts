import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

export interface Readiness {
  /** What it takes to serve, and how it is with that: `database` and `ok`, say. */
  check(): Promise<{ readonly isReady: boolean; readonly details: Readonly<Record<string, string>> }>
  isDraining(): boolean
}

const pingMillisecondsMax = 2000

/** What a supervisor asks: is the process up, can it serve, and how is it doing? */
export function serveOperations(app: FastifyInstance, readiness: Readiness, metrics: Metrics): void {
  app.get('/_livez', async () => ({ status: 'ok' }))

  app.get('/_readyz', async (_request, reply) => {
    const { isReady: isAble, details } = await readiness.check()
    const isReady = isAble && !readiness.isDraining()
    reply.code(isReady ? 200 : 503)
    return {
      status: isReady ? 'ready' : 'not ready',
      ...details,
      ...(readiness.isDraining() && { draining: true }),
    }
  })

  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}

/** Ready as long as the database answers, once it would not be missed for what is served from memory. */
export async function databaseReadiness(
  ping: () => Promise<void>,
  isWarm: () => boolean,
): ReturnType<Readiness['check']> {
  const isThere = await answersInTime(ping())
  const details = { database: isThere ? 'ok' : 'away', ...(!isWarm() && { projects: 'loading' }) }
  return { isReady: isThere && isWarm(), details }
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
