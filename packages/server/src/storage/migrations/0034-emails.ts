import type { Migration } from './migration.ts'

/** Emails that wait to be sent. */
export const emails: Migration = {
  version: 34,
  name: 'emails',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('emails')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('message_id', text, c => c.notNull())
      .addColumn('recipient', text, c => c.notNull())
      .addColumn('content', text, c => c.notNull())
      .addColumn('due_at', text, c => c.notNull())
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index emails_due on emails (due_at, id)')
    await run('create index emails_by_organization on emails (organization_id)')
  },
}
