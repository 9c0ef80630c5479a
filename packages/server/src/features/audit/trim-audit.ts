import { plusMilliseconds } from '../../instant.ts'
import type { Job } from '../../jobs/job-runner.ts'
import { originOf } from '../../origin.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const entriesAtOnceMax = 1000
const transactionsMax = 20
const dayMilliseconds = 24 * 3_600_000

/**
 * Removes entries of the audit logs after so many days. Each removal is an entry that names the last one removed: it is the checkpoint from
 * which what is left can be verified.
 */
export const trimAudit = (days: number): Job => ({
  name: 'trim-audit',
  async run({ now, read, transaction }) {
    const before = plusMilliseconds(now, -days * dayMilliseconds)
    for (const { organizationId } of await read(tx => tx.audit.listHeads())) {
      for (let n = 0; n < transactionsMax; n++) {
        const pruned = await transaction(async tx => {
          const last = await tx.audit.removeBefore(organizationId, before, entriesAtOnceMax)
          const origin = originOf('trim-audit')
          if (last) tx.audit.add({ organizationId, at: now, user: null, origin, activities: [], pruned: last })
          return last
        })
        if (!pruned) break
      }
    }
  },
})
