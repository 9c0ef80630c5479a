import type { Migration } from './migration.ts'

/** Leases for jobs, scheduled changes, rollback metrics, and what stale flags and dashboards are asked about. */
export const flagActions: Migration = {
  version: 4,
  name: 'flag-actions',
  async up({ db, text, integer, real, idType, id, run }) {
    await db.schema
      .createTable('leases')
      .addColumn('name', text, c => c.primaryKey())
      .addColumn('holder', text, c => c.notNull())
      .addColumn('token', integer, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .execute()

    await db.schema
      .createTable('scheduled_changes')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('flag_id', integer, c => c.notNull().references('flags.id').onDelete('cascade'))
      .addColumn('payload', text, c => c.notNull())
      .addColumn('scheduled_at', text, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('steps_done', integer, c => c.notNull())
      .addColumn('due_at', text, c => c.notNull())
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('failure_reason', text)
      .addColumn('executed_at', text)
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .execute()
    await run("create index scheduled_changes_due on scheduled_changes (due_at, id) where status = 'pending'")
    await run('create index scheduled_changes_by_project on scheduled_changes (project_id, scheduled_at, id)')

    await db.schema
      .createTable('flag_metrics')
      .addColumn('flag_id', integer, c => c.notNull().references('flags.id').onDelete('cascade'))
      .addColumn('series', text, c => c.notNull())
      .addColumn('active_since', text, c => c.notNull())
      .addColumn('minute', text, c => c.notNull())
      .addColumn('samples', integer, c => c.notNull())
      .addColumn('total', real, c => c.notNull())
      .addColumn('lowest', real, c => c.notNull())
      .addColumn('highest', real, c => c.notNull())
      .addPrimaryKeyConstraint('flag_metrics_key', ['flag_id', 'series', 'active_since', 'minute'])
      .execute()
    await run('create index flag_metrics_by_age on flag_metrics (minute)')

    await run("alter table flags add column active_since text not null default ''")
    await run('update flags set active_since = updated_at')
    await run('alter table flags add column is_fully_rolled_out integer not null default 0')
    await run(
      "create index flags_to_watch on flags (id) where active = 1 and deleted = 0 and rollback_conditions <> '{}'",
    )

    await run("alter table dashboards add column tags text not null default '[]'")
    await run("alter table dashboards add column tiles text not null default '[]'")
  },
}
