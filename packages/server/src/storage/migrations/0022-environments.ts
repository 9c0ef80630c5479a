import type { Migration } from './migration.ts'

/** Projects that are environments of the same application. */
export const environments: Migration = {
  version: 22,
  name: 'environments',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('environment_sets')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .execute()
    await run('create index environment_sets_by_organization on environment_sets (organization_id, id)')
    await db.schema
      .createTable('environments')
      .addColumn('project_id', integer, c => c.primaryKey().references('projects.id').onDelete('cascade'))
      .addColumn('set_id', integer, c => c.notNull().references('environment_sets.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('position', integer, c => c.notNull())
      .addColumn('is_production', integer, c => c.notNull())
      .execute()
    await run('create index environments_by_set on environments (set_id, position)')
  },
}
