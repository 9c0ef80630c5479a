import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createHalyard, type Halyard, type HalyardOptions } from '../halyard.ts'
import { startWaitingServer } from '../operations/waiting-server.ts'
import { Problem } from '../problem.ts'
import { isDatabaseAway } from '../storage/driver-error.ts'
import { isFirstToServe } from './workers.ts'

const pauseMilliseconds = 500

/**
 * Builds Halyard and listens. Over PostgreSQL the port answers from the first moment on, and a database that comes late or goes again
 * meanwhile is waited for: a node that is started during an outage needs no hand when the outage ends.
 */
export async function startHalyard(config: Config, log: Logger, options: HalyardOptions): Promise<Halyard> {
  const isLocal = config.databaseUrl.startsWith('sqlite:')
  const waiting = !isLocal && isFirstToServe() ? await startWaitingServer(config.host, config.port) : undefined
  try {
    const halyard = await (isLocal ? createHalyard : whenDatabaseStays)(config, log, options)
    await waiting?.close()
    await listen(halyard, config)
    return halyard
  } finally {
    await waiting?.close()
  }
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

async function listen(halyard: Halyard, { host, port }: Config): Promise<void> {
  try {
    await halyard.app.listen({ host, port })
  } catch (error) {
    await halyard.close()
    throw error
  }
}
