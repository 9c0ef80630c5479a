import { plusMilliseconds } from '../../instant.ts'
import type { Job } from '../../jobs/job-runner.ts'
import { receivedBatchDaysMax } from './ingest/received-batch-store.ts'
import { eventCountDaysMax, minuteOf } from './usage/event-counts.ts'
import { dayOf } from './usage/usage-store.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
/** Who used a flag is needed for as long as distinct users over a month can be asked for; how many, for a year. */
export const usageUsersDaysMax = 31
export const usageDaysMax = 366
/** In one turn, so that nobody waits long for the database. */
const seriesAtOnceMax = 20

/** Forgets what is too old to be asked for. */
export const trimEvents: Job = {
  name: 'trim-events',
  async run({ now, transaction }) {
    const before = (days: number) => plusMilliseconds(now, -days * dayMilliseconds)
    await transaction(tx => tx.eventCounts.removeBefore(minuteOf(before(eventCountDaysMax))))
    await transaction(tx => tx.receivedBatches.removeBefore(before(receivedBatchDaysMax)))
    await transaction(tx => tx.usage.forgetUsersBefore(dayOf(before(usageUsersDaysMax)), seriesAtOnceMax))
    await transaction(tx => tx.usage.removeBefore(dayOf(before(usageDaysMax)), seriesAtOnceMax))
  },
}
