import type { Migration } from './migration.ts'

/** Addresses that are notified of changes, and what is or was sent to them. */
export const webhooks: Migration = {
  version: 33,
  name: 'webhooks',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('webhooks')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('url', text, c => c.notNull())
      .addColumn('format', text, c => c.notNull())
      .addColumn('events', text, c => c.notNull())
      .addColumn('tag', text)
      .addColumn('secret', text, c => c.notNull())
      .addColumn('previous_secret', text)
      .addColumn('previous_secret_expires_at', text)
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('failures', integer, c => c.notNull())
      .addColumn('disabled_reason', text)
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .execute()
    await run('create index webhooks_by_project on webhooks (project_id, id)')
    await run('create index webhooks_by_organization on webhooks (organization_id, id)')
    await db.schema
      .createTable('webhook_deliveries')
      .addColumn('id', idType, id)
      .addColumn('webhook_id', integer, c => c.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('event_id', text, c => c.notNull())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('event', text, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('due_at', text, c => c.notNull())
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('response_status', integer)
      .addColumn('failure', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('attempted_at', text)
      .execute()
    await run('create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id)')
    await run("create index webhook_deliveries_due on webhook_deliveries (due_at, id) where status = 'pending'")
    await run('create index webhook_deliveries_by_age on webhook_deliveries (created_at)')
  },
}
