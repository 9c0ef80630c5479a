import { plusMilliseconds } from '../../instant.ts'
import type { Job } from '../../jobs/job-runner.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const entriesAtOnceMax = 1000
const transactionsMax = 20
const dayMilliseconds = 24 * 3_600_000

/** Removes activity entries after so many days. Versions of flags stay, with their authors. */
export const trimActivity = (days: number): Job => ({
  name: 'trim-activity',
  async run({ now, transaction }) {
    const before = plusMilliseconds(now, -days * dayMilliseconds)
    for (let n = 0; n < transactionsMax; n++) {
      if ((await transaction(tx => tx.activity.removeBefore(before, entriesAtOnceMax))) === 0) return
    }
  },
})
