import type { Logger } from 'pino'
import { Problem } from '../../problem.ts'
import { isDatabaseAway } from '../../storage/driver-error.ts'

const pingMilliseconds = 1000
const debugLevel = 20

/** While the database is unavailable, every part that uses it fails again and again. This reports the outage once, and its end once. */
export interface OutageFilter {
  /** A hook for pino. Drops messages about an outage that has been reported; with the level `debug` they are logged in full. */
  logMethod(this: Logger, args: unknown[], method: (...args: never[]) => void, level: number): void
  /** Starts to look for the end of outages. */
  watch(database: string, ping: () => Promise<void>, log: Logger): void
}

export function createOutageFilter(): OutageFilter {
  let since: number | undefined
  let watched: { database: string; ping: () => Promise<void>; log: Logger } | undefined
  let timer: NodeJS.Timeout | undefined

  function lookForEnd(): void {
    if (timer || !watched) return
    const { database, ping, log } = watched
    timer = setInterval(async () => {
      try {
        await ping()
      } catch {
        return
      }
      clearInterval(timer)
      timer = undefined
      if (since === undefined) return
      const seconds = Math.round((performance.now() - since) / 100) / 10
      since = undefined
      log.info({ event: 'database_available', database, seconds }, 'the database is available again')
    }, pingMilliseconds)
    timer.unref()
  }

  return {
    logMethod(args, method, level) {
      const cause = outageIn(args[0])
      const write = method as (...args: unknown[]) => void
      if (!cause) return write.apply(this, args)
      const isFirst = since === undefined
      since ??= performance.now()
      lookForEnd()
      if (isFirst) {
        const fields = { event: 'database_unavailable', ...(watched && { database: watched.database }) }
        write.call(this, { ...fields, cause: cause.message }, 'the database is unavailable; retrying')
      }
      if (this.levelVal <= debugLevel && level >= this.levelVal) write.apply(this, args)
    },
    watch(database, ping, log) {
      watched = { database, ping, log }
      if (since !== undefined) lookForEnd()
    },
  }
}

/** The driver's error, when that is what a message is about. */
function outageIn(fields: unknown): Error | undefined {
  const { err } = (typeof fields === 'object' && fields !== null ? fields : {}) as { err?: unknown }
  const error = err instanceof Problem ? err.cause : err
  return error instanceof Error && isDatabaseAway(error) ? error : undefined
}
