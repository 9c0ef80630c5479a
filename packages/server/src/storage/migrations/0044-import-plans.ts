import type { Migration } from './migration.ts'

/** Files of other services as they would be imported, until they expire. */
export const importPlans: Migration = {
  version: 44,
  name: 'import-plans',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('import_plans')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('source', text, c => c.notNull())
      .addColumn('targets', text, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .addColumn('applied_at', text)
      .execute()
    await run('create index import_plans_by_organization on import_plans (organization_id, id)')
    await run('create index import_plans_by_expiry on import_plans (expires_at)')
    await db.schema
      .createTable('import_plan_items')
      .addColumn('plan_id', integer, c => c.notNull().references('import_plans.id').onDelete('cascade'))
      .addColumn('position', integer, c => c.notNull())
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('source_id', text, c => c.notNull())
      .addColumn('source_key', text, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('reasons', text, c => c.notNull())
      .addColumn('drift', text, c => c.notNull())
      .addColumn('definition', text)
      .addColumn('outcome', text)
      .addPrimaryKeyConstraint('import_plan_items_key', ['plan_id', 'position'])
      .execute()
    await run('create index import_plan_items_by_project on import_plan_items (project_id)')
  },
}
