import type { Migration } from './migration.ts'

/** Which SDKs call a project. */
export const sdkUsage: Migration = {
  version: 38,
  name: 'sdk-usage',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('sdk_usage')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('library', text, c => c.notNull())
      .addColumn('version', text, c => c.notNull())
      .addColumn('calls', integer, c => c.notNull())
      .addColumn('first_seen_at', text, c => c.notNull())
      .addColumn('last_seen_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('sdk_usage_key', ['project_id', 'library', 'version'])
      .execute()
    await run('create index sdk_usage_by_age on sdk_usage (last_seen_at)')
  },
}
