import { plusMilliseconds } from '../../instant.ts'
import type { Job } from '../../jobs/job-runner.ts'
import { originOf } from '../../origin.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import { getCheckpointKey } from './checkpoint-key.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const entriesAtOnceMax = 1000
const transactionsMax = 20
const dayMilliseconds = 24 * 3_600_000

/**
 * Removes entries of the audit logs after so many days. Each removal is an entry that names the last one removed, and is signed: it is the
 * checkpoint from which what is left can be verified.
 */
export const trimAudit = (days: number, secretBox: SecretBox): Job => ({
  name: 'trim-audit',
  async run({ now, read, transaction }) {
    const before = plusMilliseconds(now, -days * dayMilliseconds)
    const key = await transaction(tx => getCheckpointKey(tx.instance, secretBox))
    for (const { organizationId } of await read(tx => tx.audit.listHeads())) {
      for (let n = 0; n < transactionsMax; n++) {
        const hasMore = await transaction(async tx => {
          const removed = await tx.audit.removeBefore(organizationId, before, entriesAtOnceMax)
          if (!removed) return false
          const pruned = key.sign(organizationId, removed.head, removed.pruned)
          const origin = originOf('trim-audit')
          tx.audit.add({ organizationId, at: now, user: null, origin, activities: [], pruned })
          return true
        })
        if (!hasMore) break
      }
    }
  },
})
