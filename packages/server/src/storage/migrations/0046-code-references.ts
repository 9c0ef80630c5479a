import type { Migration } from './migration.ts'

/** Where source code names flags. */
export const codeReferences: Migration = {
  version: 46,
  name: 'code-references',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('code_repositories')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('branch', text)
      .addColumn('commit_hash', text)
      .addColumn('scanned_at', text, c => c.notNull())
      .addUniqueConstraint('code_repositories_name', ['project_id', 'name'])
      .execute()
    await db.schema
      .createTable('code_references')
      .addColumn('repository_id', integer, c => c.notNull().references('code_repositories.id').onDelete('cascade'))
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('flag_key', text, c => c.notNull())
      .addColumn('path', text, c => c.notNull())
      .addColumn('line', integer, c => c.notNull())
      .addColumn('excerpt', text, c => c.notNull())
      .addPrimaryKeyConstraint('code_references_key', ['repository_id', 'path', 'line', 'flag_key'])
      .execute()
    await run('create index code_references_by_flag on code_references (project_id, flag_key)')
  },
}
