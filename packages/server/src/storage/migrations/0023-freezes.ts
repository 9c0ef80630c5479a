import type { Migration } from './migration.ts'

/** Times in which flags and cohorts are not changed. */
export const freezes: Migration = {
  version: 23,
  name: 'freezes',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('freezes')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('environment_set_id', integer, c => c.references('environment_sets.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.references('projects.id').onDelete('cascade'))
      .addColumn('tag', text)
      .addColumn('starts_at', text)
      .addColumn('ends_at', text)
      .addColumn('rrule', text)
      .addColumn('duration_minutes', integer)
      .addColumn('time_zone', text, c => c.notNull())
      .addColumn('reason', text, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index freezes_by_organization on freezes (organization_id, id)')
  },
}
