import type { Migration } from './migration.ts'

/** Until when a user has seen the inbox of a project. */
export const inboxSeen: Migration = {
  version: 73,
  name: 'inbox-seen',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('inbox_seen')
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('seen_until', text, c => c.notNull())
      .addPrimaryKeyConstraint('inbox_seen_key', ['user_id', 'project_id'])
      .execute()
    await run('create index inbox_seen_by_project on inbox_seen (project_id)')
  },
}
