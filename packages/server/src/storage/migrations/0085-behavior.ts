import type { Migration } from './migration.ts'

/** The events that cohorts name, and how often each person performed them on each day. */
export const behavior: Migration = {
  version: 85,
  name: 'behavior',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('counted_events')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('counted_since', text, c => c.notNull())
      // No cohort names the event any more; its counts are removed in the background. Counting it again makes a new row.
      .addColumn('ended_at', text)
      .execute()
    await run('create unique index counted_events_live on counted_events (project_id, name) where ended_at is null')
    await run('create index counted_events_ended on counted_events (ended_at) where ended_at is not null')

    await db.schema
      .createTable('person_event_days')
      .addColumn('person_id', integer, c => c.notNull().references('persons.id').onDelete('cascade'))
      .addColumn('event_id', integer, c => c.notNull().references('counted_events.id').onDelete('cascade'))
      // Days since 1970-01-01 in UTC.
      .addColumn('day', integer, c => c.notNull())
      .addColumn('count', integer, c => c.notNull())
      // Beyond all windows, and kept because it is the first one.
      .addColumn('is_kept', integer, c => c.notNull())
      .addPrimaryKeyConstraint('person_event_days_key', ['person_id', 'event_id', 'day'])
      .execute()
    await run('create index person_event_days_by_day on person_event_days (event_id, is_kept, day)')
  },
}
