import type { Migration } from './migration.ts'

/** How often another service and Halyard had the same value, by flag and day. */
export const shadowDays: Migration = {
  version: 50,
  name: 'shadow-days',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('shadow_days')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('flag_id', integer, c => c.notNull().references('flags.id').onDelete('cascade'))
      .addColumn('day', text, c => c.notNull())
      .addColumn('agree', integer, c => c.notNull())
      .addColumn('differ', integer, c => c.notNull())
      .addColumn('differed_at', text)
      .addColumn('example', text)
      .addPrimaryKeyConstraint('shadow_days_key', ['project_id', 'flag_id', 'day'])
      .execute()
    await run('create index shadow_days_by_flag on shadow_days (flag_id)')
    await run('create index shadow_days_by_age on shadow_days (day)')
  },
}
