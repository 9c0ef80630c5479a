import { shadowDaysMax } from '@halyard/contract/limits'
import { plusMilliseconds } from '../../instant.ts'
import type { Job } from '../../jobs/job-runner.ts'
import { definitionDaysMax, valueDaysMax } from '../definitions/definition.ts'
import { sdkUsageDaysMax } from '../sdk-usage/record-sdk-usage.ts'
import { eventCountDaysMax, minuteOf } from './usage/event-counts.ts'
import { dayOf } from './usage/usage.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
/** User hashes are needed while distinct users over a month can be queried; counts are retained for a year. */
export const usageUsersDaysMax = 31
export const usageDaysMax = 366
/** Older events are never counted, so a batch that is resent later than this has no effect. */
const receivedBatchDaysMax = 31
/** Per transaction, so that other writers do not wait long. */
const seriesPerTransactionMax = 20

/** Deletes usage data beyond its retention period. */
export const trimEvents: Job = {
  name: 'trim-events',
  async run({ now, transaction, people }) {
    const before = (days: number) => plusMilliseconds(now, -days * dayMilliseconds)
    await transaction(tx => tx.eventCounts.removeBefore(minuteOf(before(eventCountDaysMax))))
    await transaction(tx => tx.receivedBatches.removeBefore(before(receivedBatchDaysMax)))
    if (people.isSeparate) {
      await people.transaction(tx => tx.receivedBatches.removeBefore(before(receivedBatchDaysMax)))
    }
    await transaction(tx => tx.definitions.removeBefore(before(definitionDaysMax), before(valueDaysMax)))
    await transaction(tx => tx.sdkUsage.removeBefore(before(sdkUsageDaysMax)))
    await transaction(tx => tx.shadow.removeBefore(dayOf(before(shadowDaysMax))))
    await transaction(tx => tx.usage.removeUsersBefore(dayOf(before(usageUsersDaysMax)), seriesPerTransactionMax))
    await transaction(tx => tx.usage.removeBefore(dayOf(before(usageDaysMax)), seriesPerTransactionMax))
  },
}
