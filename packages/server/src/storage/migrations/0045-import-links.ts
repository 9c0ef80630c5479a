import type { Migration } from './migration.ts'

/** Which flags and cohorts came from which item of another service, and how both looked then. */
export const importLinks: Migration = {
  version: 45,
  name: 'import-links',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('import_links')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('source', text, c => c.notNull())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('source_id', text, c => c.notNull())
      .addColumn('flag_id', integer, c => c.references('flags.id').onDelete('cascade'))
      .addColumn('cohort_id', integer, c => c.references('cohorts.id').onDelete('cascade'))
      .addColumn('source_hash', text, c => c.notNull())
      .addColumn('target_hash', text, c => c.notNull())
      .addColumn('imported_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('import_links_key', ['project_id', 'source', 'kind', 'source_id'])
      .execute()
    await run('create index import_links_by_flag on import_links (flag_id)')
    await run('create index import_links_by_cohort on import_links (cohort_id)')
  },
}
