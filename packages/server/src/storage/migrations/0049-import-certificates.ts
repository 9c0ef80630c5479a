import type { Migration } from './migration.ts'

/** What comparisons with the SDKs of other services have shown. They outlive the plans of the imports. */
export const importCertificates: Migration = {
  version: 49,
  name: 'import-certificates',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('import_certificates')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('import_id', integer)
      .addColumn('summary', text, c => c.notNull())
      .addColumn('certificate', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index import_certificates_by_project on import_certificates (project_id, id)')
  },
}
