import type { Migration } from './migration.ts'

/** Comments on change requests, with replies. */
export const requestComments: Migration = {
  version: 71,
  name: 'request-comments',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('change_request_comments')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('change_request_id', integer, c => c.notNull().references('change_requests.id').onDelete('cascade'))
      .addColumn('parent_id', integer, c => c.references('change_request_comments.id').onDelete('cascade'))
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('text', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('edited_at', text)
      .execute()
    await run('create index change_request_comments_by_request on change_request_comments (change_request_id, id)')
    await run('create index change_request_comments_by_project on change_request_comments (project_id)')
    await run('create index change_request_comments_by_parent on change_request_comments (parent_id)')
  },
}
