import type { Migration } from './migration.ts'

/** Names of events and properties, and sampled values of event properties. */
export const definitions: Migration = {
  version: 37,
  name: 'definitions',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('definitions')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('property_type', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_seen_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('definitions_key', ['project_id', 'kind', 'name'])
      .execute()
    await run('create index definitions_by_age on definitions (last_seen_at)')
    await db.schema
      .createTable('definition_values')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('value', text, c => c.notNull())
      .addColumn('last_seen_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('definition_values_key', ['project_id', 'name', 'value'])
      .execute()
    await run('create index definition_values_by_age on definition_values (last_seen_at)')
  },
}
