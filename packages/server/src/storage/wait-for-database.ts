import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseAway } from './driver-error.ts'

const pauseMillisecondsMin = 250
const pauseMillisecondsMax = 5000

/** A database that starts together with Halyard may be later. Throws the last error when the time is over; without a limit it waits on. */
export async function untilDatabaseAnswers(
  ping: () => Promise<void>,
  secondsMax: number | undefined,
  log: { warn(details: object, message: string): void },
): Promise<void> {
  const start = performance.now()
  for (let pause = pauseMillisecondsMin; ; pause = Math.min(pause * 2, pauseMillisecondsMax)) {
    try {
      return await ping()
    } catch (error) {
      const left = (secondsMax ?? Number.POSITIVE_INFINITY) * 1000 - (performance.now() - start)
      if (!isDatabaseAway(error) || left < 0) throw error
      log.warn({ event: 'database_not_ready', err: error }, 'the database does not respond yet; retrying')
      await wait(Math.min(pause, left))
    }
  }
}
