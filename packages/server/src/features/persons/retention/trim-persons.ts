import { plusMilliseconds } from '../../../instant.ts'
import type { Job } from '../../../jobs/job-runner.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const personsAtOnceMax = 500
const transactionsMax = 20
const dayMilliseconds = 24 * 3_600_000

/**
 * Removes persons that no event has named for so many days. The days count from the moment that the setting takes effect: before it, no one
 * recorded when a person was seen. Without the setting, records are removed, so that a later one does not count a gap.
 */
export function trimPersons(days: number | undefined): Job {
  let recordedUpTo = 0
  return {
    name: 'trim-persons',
    async run({ now, people: { transaction } }) {
      const repeat = async (work: () => Promise<boolean>) => {
        for (let n = 0; n < transactionsMax && (await work()); n++);
      }
      if (days === undefined) {
        return repeat(async () => (await transaction(tx => tx.personRetention.forget(personsAtOnceMax))) > 0)
      }
      await repeat(async () => {
        const last = await transaction(tx => tx.personRetention.noteUnrecorded(recordedUpTo, personsAtOnceMax, now))
        recordedUpTo = last ?? recordedUpTo
        return last !== undefined
      })
      const before = plusMilliseconds(now, -days * dayMilliseconds)
      await repeat(
        async () =>
          (await transaction(tx => tx.personRetention.removeUnseen(before, personsAtOnceMax, now))) ===
          personsAtOnceMax,
      )
    },
  }
}
