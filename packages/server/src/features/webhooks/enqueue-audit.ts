import { randomUUID } from 'node:crypto'
import type { Instant } from '../../instant.ts'
import type { JobContext } from '../../jobs/job-runner.ts'
import type { Stores } from '../../stores.ts'
import type { Delivery } from './webhook.ts'
import type { AuditFollower } from './webhook-store.sql.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const entriesAtOnceMax = 200
const transactionsMax = 50

/**
 * Queues the new entries of audit logs for the webhooks that follow them. Entries are numbered in commit order, so that none is passed over;
 * the write that makes an entry does not wait for it.
 */
export async function enqueueAudit({ now, read, transaction, isStopping }: JobContext): Promise<void> {
  for (let n = 0; n < transactionsMax; ) {
    const followers = await read(tx => tx.webhooks.listBehindAudit())
    if (followers.length === 0) return
    for (const follower of followers) {
      if (isStopping() || n++ >= transactionsMax) return
      await transaction(tx => enqueueEntries(tx, follower, now))
    }
  }
}

async function enqueueEntries(tx: Stores, follower: AuditFollower, now: Instant): Promise<void> {
  const entries = await tx.audit.listOperationsAfter(follower.organizationId, follower.sequence, entriesAtOnceMax)
  const last = entries.at(-1)
  if (!last || !(await tx.webhooks.advanceAudit(follower, last.sequence))) return
  await tx.webhooks.addDeliveries(entries.map(entry => deliveryOf(follower, entry, now)))
}

interface Operation {
  readonly sequence: number
  readonly operation: string
}

/** All entries of a log have one item, so that they are sent one after another. */
const deliveryOf = (
  { webhookId, organizationId }: AuditFollower,
  { sequence, operation }: Operation,
  now: Instant,
): Omit<Delivery, 'id'> => ({
  webhookId,
  eventId: randomUUID(),
  kind: 'audit',
  event: {
    scope: 'AuditLog',
    itemId: organizationId,
    activity: 'appended',
    detail: { name: `${sequence} ${operation}`, changes: [], trigger: null },
    keyLabel: null,
    email: null,
    sequence,
  },
  status: 'pending',
  dueAt: now,
  attempts: 0,
  responseStatus: null,
  failure: null,
  createdAt: now,
  attemptedAt: null,
})
