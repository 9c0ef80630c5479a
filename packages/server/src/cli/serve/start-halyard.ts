import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { openPort } from '../../http/server/node-server.ts'
import { startWaitingServer, type WaitingServer } from '../../http/server/startup-server.ts'
import { createHalyard, type Halyard, type HalyardOptions } from '../../main.ts'
import { openMetricsPort } from '../../observability/metrics-endpoint.ts'
import { Problem } from '../../problem.ts'
import { isDatabaseAway } from '../../storage/driver-error.ts'
import { watchPort } from './workers.ts'

const pauseMilliseconds = 500
/** How long a start waits for the warm-up: a small installation is then in memory before its first request. */
const briefMilliseconds = 500

/**
 * Builds Halyard and listens. On PostgreSQL the port responds at once and the start waits for a database that is unavailable, so that a node
 * started during an outage recovers automatically. `onRunning` is called before the port opens.
 */
export async function startHalyard(
  config: Config,
  log: Logger,
  options: HalyardOptions,
  onRunning: (halyard: Halyard) => void = () => {},
): Promise<Halyard> {
  const isLocal = [config.databaseUrl, config.personsDatabaseUrl].every(url => url?.startsWith('sqlite:') ?? true)
  const waiting = isLocal ? undefined : await holdPort(config)
  try {
    const halyard = await (isLocal ? createHalyard : whenDatabaseStays)(config, log, options)
    // Workers share a port: the one that reports readiness is not the one that gets the next request.
    if (!isLocal && options.peers?.ownName !== undefined) await halyard.warm()
    // SQLite is read on this thread, so nothing else could run meanwhile.
    if (isLocal) await Promise.race([halyard.warm(), wait(briefMilliseconds, undefined, { ref: false })])
    await waiting?.close()
    onRunning(halyard)
    await listen(halyard, config)
    return halyard
  } finally {
    await waiting?.close()
  }
}

/** Serves the port while no other worker does, until it is closed. */
function holdPort({ host, port }: Config): Promise<WaitingServer> {
  let server: WaitingServer | undefined
  let isClosed = false
  let last = Promise.resolve()
  const hold = (isWanted: boolean): Promise<void> => {
    const done = last.then(async () => {
      if (isWanted && !isClosed) server ??= await startWaitingServer(host, port)
      else if (server) {
        await server.close()
        server = undefined
      }
    })
    last = done.catch(() => {})
    return done
  }
  const close = () => {
    isClosed = true
    return hold(false)
  }
  return new Promise((resolve, reject) =>
    watchPort(isPortFree => hold(isPortFree).then(() => resolve({ close }), reject)),
  )
}

/** Retries when the database becomes unavailable during the start. */
async function whenDatabaseStays(config: Config, log: Logger, options: HalyardOptions): Promise<Halyard> {
  const start = performance.now()
  for (;;) {
    try {
      return await createHalyard(config, log, options)
    } catch (error) {
      const isOver = performance.now() - start > (config.databaseWaitSeconds ?? Number.POSITIVE_INFINITY) * 1000
      if (isOver || !isAway(error)) throw error
      log.warn({ event: 'database_lost_during_start', err: error }, 'the database was lost during the start; retrying')
      await wait(pauseMilliseconds)
    }
  }
}

const isAway = (error: unknown): boolean =>
  isDatabaseAway(error) || (error instanceof Problem && error.kind === 'unavailable')

/** Opens the port itself instead of `app.listen`, which would log a second message about it. */
async function listen(halyard: Halyard, config: Config): Promise<void> {
  try {
    await halyard.app.ready()
    await openMetricsPort(halyard.app, halyard.metrics, config.host, config)
    await openPort(halyard.app.server, config)
  } catch (error) {
    await halyard.close()
    throw error
  }
}
