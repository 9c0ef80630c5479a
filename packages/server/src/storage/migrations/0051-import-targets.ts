import type { Migration } from './migration.ts'

/** An older node that still runs during the upgrade sets no target. Its plans are ignored. */
const targetOfOlderVersions = -1

/** A plan may create its projects, so its items name a target instead. Plans expire within a day; those of now are deleted. */
export const importTargets: Migration = {
  version: 51,
  name: 'import-targets',
  async up({ db, text, integer, run }) {
    await run('drop table import_plan_items')
    await run('delete from import_plans')
    await db.schema.alterTable('import_plans').addColumn('new_environment_set', text).execute()
    await db.schema
      .createTable('import_plan_items')
      .addColumn('plan_id', integer, c => c.notNull().references('import_plans.id').onDelete('cascade'))
      .addColumn('position', integer, c => c.notNull())
      .addColumn('target', integer, c => c.notNull().defaultTo(targetOfOlderVersions))
      .addColumn('project_id', integer, c => c.references('projects.id').onDelete('cascade'))
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
