import type { Migration } from './migration.ts'

/** Owner, expected end, links and comments of flags, beside their definitions. */
export const flagDetails: Migration = {
  version: 36,
  name: 'flag-details',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('flag_details')
      .addColumn('flag_id', integer, c => c.primaryKey().references('flags.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('owner_id', integer, c => c.references('users.id').onDelete('set null'))
      .addColumn('expected_end', text)
      .addColumn('links', text, c => c.notNull())
      .execute()
    await run('create index flag_details_by_project on flag_details (project_id, flag_id)')
    await db.schema
      .createTable('flag_comments')
      .addColumn('id', idType, id)
      .addColumn('flag_id', integer, c => c.notNull().references('flags.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('text', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index flag_comments_by_flag on flag_comments (flag_id, id)')
    await run('create index flag_comments_by_project on flag_comments (project_id)')
  },
}
