import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'
import { isBound } from '../storage/bind-persons.ts'
import type { Storage } from '../storage/open-storage.ts'
import { version } from '../version.ts'
import type { Metrics } from './metrics.ts'
import { type MetricsAccess, mayReadMetrics } from './metrics-endpoint.ts'

export interface Readiness {
  /** `details` name each dependency and its state, such as `database` and `ok`. */
  check(): Promise<ReadinessState>
  isDraining(): boolean
}

export interface ReadinessState {
  readonly canEvaluate: boolean
  readonly canWrite: boolean
  readonly details: Readonly<Record<string, string>>
}

const pingMillisecondsMax = 2000

/** For supervisors and monitoring: is the process alive, can it serve, and how is it doing? */
export function serveOperations(
  app: FastifyInstance,
  readiness: Readiness,
  metrics: Metrics,
  access: MetricsAccess,
): void {
  const about = () => ({ version, uptime_seconds: Math.floor(process.uptime()) })

  for (const path of ['/_livez', '/livez', '/healthz', '/health']) {
    app.get(path, async () => ({ status: 'ok', ...about() }))
  }

  for (const path of ['/_readyz', '/readyz']) {
    app.get<{ Querystring: { for?: string | string[] } }>(path, async (request, reply) => {
      const { canEvaluate, canWrite, details } = await readiness.check()
      const isAble = request.query.for === 'evaluation' ? canEvaluate : canEvaluate && canWrite
      const isReady = isAble && !readiness.isDraining()
      reply.code(isReady ? 200 : 503)
      return {
        status: isReady ? 'ready' : 'not ready',
        evaluation: canEvaluate ? 'ok' : 'unavailable',
        writes: canWrite ? 'ok' : 'unavailable',
        ...details,
        ...(readiness.isDraining() && { draining: true }),
        ...about(),
      }
    })
  }

  if (access.metricsPort !== undefined) return
  app.get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(request.headers.authorization, access.metricsToken)) {
      throw new Problem('unauthenticated', 'Send METRICS_TOKEN as `Authorization: Bearer`.', {
        code: 'not_authenticated',
      })
    }
    const text = await metrics.text().catch(cause => {
      throw new Problem('unavailable', 'The metrics of the other workers cannot be read. Try again.', { cause })
    })
    reply.header('content-type', metrics.contentType)
    return text
  })
}

/** Evaluation needs the projects in memory; writes need a database that responds and whose disk can be written. */
export async function databaseReadiness(
  { reader, ping, health: { diskFault } }: Pick<Storage, 'reader' | 'ping' | 'health'>,
  isWarm: () => boolean,
  persons: Pick<Storage, 'ping'> | undefined,
): Promise<ReadinessState> {
  const [responds, personsRespond, isMoved] = await Promise.all([
    respondsInTime(ping()),
    persons ? respondsInTime(persons.ping()) : undefined,
    persons ? false : respondsInTime(requireBound(reader)),
  ])
  // Every node has the same persons: taking all of them out of service would only stop what needs none.
  const details = {
    database: responds ? 'ok' : 'away',
    ...(personsRespond !== undefined && { persons_database: personsRespond ? 'ok' : 'away' }),
    // Another node has it: this one, which was started earlier, looks for persons and writes them where no other node does.
    ...(isMoved && { persons_database: 'not set' }),
    ...(diskFault !== undefined && { disk: diskFault }),
    ...(!isWarm() && { projects: 'loading' }),
  }
  return { canEvaluate: isWarm() && !isMoved, canWrite: responds && !isMoved && diskFault === undefined, details }
}

async function requireBound(main: Storage['reader']): Promise<void> {
  if (!(await isBound(main))) throw new Error('Persons are in the main database.')
}

async function respondsInTime(ping: Promise<void>): Promise<boolean> {
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
