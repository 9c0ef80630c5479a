import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseAway } from './driver-error.ts'

const pauseMilliseconds = 500

/** A database that starts together with Halyard may be later than it. Throws the last error when the time is over. */
export async function untilDatabaseAnswers(
  ping: () => Promise<void>,
  secondsMax: number,
  log: { warn(details: object, message: string): void },
): Promise<void> {
  const start = performance.now()
  for (;;) {
    try {
      return await ping()
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() - start > secondsMax * 1000) throw error
      log.warn({ err: error }, 'the database does not answer yet; waiting for it')
      await wait(pauseMilliseconds)
    }
  }
}
