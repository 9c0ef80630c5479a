import type { Migration } from './migration.ts'

/** Finds what is pending for one webhook in order. */
export const webhookQueues: Migration = {
  version: 52,
  name: 'webhook-queues',
  async up({ run }) {
    await run("create index webhook_deliveries_pending on webhook_deliveries (webhook_id, id) where status = 'pending'")
  },
}
