import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { openPort } from '../http/server/node-server.ts'
import { createHalyard, type Halyard, type HalyardOptions } from '../main.ts'
import { startWaitingServer, type WaitingServer } from '../observability/startup-server.ts'
import { Problem } from '../problem.ts'
import { isDatabaseAway } from '../storage/driver-error.ts'
import { watchPort } from './workers.ts'

const pauseMilliseconds = 500
/** A small installation is in memory by then, and its first request is answered from there. */
const briefMilliseconds = 500
/** Those who have been waiting for the port come first, unless somebody asks for a route. */
const doorstepMilliseconds = 50

/**
 * Builds Halyard and listens. Over PostgreSQL the port answers from the first moment on, and a database that comes late or goes again
 * meanwhile is waited for: a node that is started during an outage needs no hand when the outage ends. `onRunning` is told before
 * the first request can come.
 */
export async function startHalyard(
  config: Config,
  log: Logger,
  options: HalyardOptions,
  onRunning: (halyard: Halyard) => void = () => {},
): Promise<Halyard> {
  const isLocal = config.databaseUrl.startsWith('sqlite:')
  const waiting = isLocal ? undefined : await holdPort(config)
  try {
    const halyard = await (isLocal ? createHalyard : whenDatabaseStays)(config, log, options)
    // Siblings share a port, and the one who is asked whether it is ready is not the one who gets the next request.
    if (!isLocal && options.peers?.ownName !== undefined) await halyard.warm()
    // Nothing else could be done meanwhile: a local database is read on this thread.
    if (isLocal) await Promise.race([halyard.warm(), wait(briefMilliseconds, undefined, { ref: false })])
    await waiting?.close()
    onRunning(halyard)
    await listen(halyard, config)
    return halyard
  } finally {
    await waiting?.close()
  }
}

/** Answers at the port while nobody else does, until it is closed. */
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
    watchPort(isUnserved => hold(isUnserved).then(() => resolve({ close }), reject)),
  )
}

/** The database may answer and go again before everything is read from it. */
async function whenDatabaseStays(config: Config, log: Logger, options: HalyardOptions): Promise<Halyard> {
  const start = performance.now()
  for (;;) {
    try {
      return await createHalyard(config, log, options)
    } catch (error) {
      const isOver = performance.now() - start > (config.databaseWaitSeconds ?? Number.POSITIVE_INFINITY) * 1000
      if (isOver || !isAway(error)) throw error
      log.warn({ err: error }, 'the database was lost during the start; trying again')
      await wait(pauseMilliseconds)
    }
  }
}

const isAway = (error: unknown): boolean =>
  isDatabaseAway(error) || (error instanceof Problem && error.kind === 'unavailable')

/** Evaluations are answered as soon as the port is open; everything else, when the routes are there. */
async function listen(halyard: Halyard, { host, port }: Config): Promise<void> {
  try {
    await openPort(halyard.app.server, { host, port })
    await wait(doorstepMilliseconds)
    await halyard.app.listen({ host, port })
  } catch (error) {
    await halyard.close()
    throw error
  }
}
