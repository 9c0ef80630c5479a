import type { Migration } from './migration.ts'

/** Up to which entry of the audit log a webhook got them; null when it is not notified of them. */
export const auditWebhooks: Migration = {
  version: 76,
  name: 'audit-webhooks',
  async up({ run }) {
    await run('alter table webhooks add column audit_sequence bigint')
  },
}
