import type { Migration } from './migration.ts'

/** JSON Schemas for the payloads of flags. */
export const payloadSchemas: Migration = {
  version: 42,
  name: 'payload-schemas',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('payload_schemas')
      .addColumn('flag_id', integer, c => c.primaryKey().references('flags.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('schema', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .execute()
    await run('create index payload_schemas_by_project on payload_schemas (project_id, flag_id)')
  },
}
