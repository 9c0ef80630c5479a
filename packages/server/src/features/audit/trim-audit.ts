import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Job, JobContext } from '../../jobs/job-runner.ts'
import { originOf } from '../../origin.ts'
import { ExplainedError } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Stores } from '../../stores.ts'
import type { AuditHead } from './audit-store.sql.ts'
import { type CheckpointKey, getCheckpointKey } from './checkpoint-key.ts'
import type { Link } from './verify-chain.ts'
import { verifyLog } from './verify-log.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const entriesAtOnceMax = 1000
const transactionsMax = 20
const dayMilliseconds = 24 * 3_600_000

/** Entries that are due for removal were changed: their removal would be signed as if they were intact. */
export class TamperedLogError extends ExplainedError {}

/**
 * Removes entries of the audit logs after so many days. Each removal is an entry that names the last one removed, and is signed: it is the
 * checkpoint from which what is left can be verified. A log that was changed stays as it is, and the job fails after the other logs.
 */
export const trimAudit = (days: number, secretBox: SecretBox): Job => ({
  name: 'trim-audit',
  async run(context) {
    const key = await context.transaction(tx => getCheckpointKey(tx.instance, secretBox))
    const before = retainedSince(context.now, days)
    const tampered: string[] = []
    for (const { organizationId } of await context.read(tx => tx.audit.listHeads())) {
      try {
        await trimLog(context, key, organizationId, before)
      } catch (error) {
        if (!(error instanceof TamperedLogError)) throw error
        tampered.push(error.message)
      }
    }
    if (tampered.length > 0) throw new TamperedLogError(tampered.join('\n'))
  },
})

export const retainedSince = (now: Instant, days: number): Instant => plusMilliseconds(now, -days * dayMilliseconds)

/** The last of the entries that are removed next, at most so many. Raises TamperedLogError. */
export async function findRemovable(
  tx: Pick<Stores, 'audit'>,
  organizationId: string,
  before: Instant,
): Promise<Link | undefined> {
  const last = await tx.audit.findLastBefore(organizationId, before, entriesAtOnceMax)
  const head = last && (await tx.audit.findHead(organizationId))
  if (!head) return undefined
  const removed: AuditHead = { ...head, ...last }
  const [fault] = (await verifyLog(tx, removed, { after: head.pruned.hash })).faults
  if (!fault) return last
  throw new TamperedLogError(
    `The audit log of ${organizationId} was changed, so nothing of it is removed. Entry ${fault.sequence}: ${fault.message} ` +
      'Run: halyard audit verify',
  )
}

async function trimLog({ now, transaction }: JobContext, key: CheckpointKey, organizationId: string, before: Instant) {
  for (let n = 0; n < transactionsMax; n++) {
    const hasMore = await transaction(async tx => {
      const last = await findRemovable(tx, organizationId, before)
      if (!last) return false
      const head = await tx.audit.removeUpTo(organizationId, last)
      const pruned = key.sign(organizationId, head, last)
      tx.audit.add({ organizationId, at: now, user: null, origin: originOf('trim-audit'), activities: [], pruned })
      return true
    })
    if (!hasMore) break
  }
}
