import type { Migration } from './migration.ts'

/** Saved views of the flag list, and favorite flags. */
export const savedViews: Migration = {
  version: 40,
  name: 'saved-views',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('saved_views')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('query', text, c => c.notNull())
      .addColumn('is_shared', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addUniqueConstraint('saved_views_name', ['project_id', 'user_id', 'name'])
      .execute()
    await run('create index saved_views_by_user on saved_views (user_id)')
    await db.schema
      .createTable('favorite_flags')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('flag_id', integer, c => c.notNull().references('flags.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('favorite_flags_key', ['project_id', 'user_id', 'flag_id'])
      .execute()
    await run('create index favorite_flags_by_flag on favorite_flags (flag_id)')
    await run('create index favorite_flags_by_user on favorite_flags (user_id)')
  },
}
