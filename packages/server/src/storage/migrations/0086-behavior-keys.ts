import type { Migration } from './migration.ts'

/**
 * Counts without references: to check both for each row cost more than to write it. Persons are held while they are counted, and what
 * removes persons, events or projects removes the counts.
 */
export const behaviorKeys: Migration = {
  version: 86,
  name: 'behavior-keys',
  async up({ isPostgres, run }) {
    if (isPostgres) {
      // Dropping a reference locks the other table, too, for a moment.
      await run('lock table counted_events in access exclusive mode')
      await run('lock table persons in access exclusive mode')
      await run('alter table person_event_days drop constraint person_event_days_person_id_fkey')
      await run('alter table person_event_days drop constraint person_event_days_event_id_fkey')
      return
    }
    await run(`create table person_event_days_new (
      person_id integer not null, event_id integer not null, day integer not null, count integer not null,
      is_kept integer not null, constraint person_event_days_key primary key (person_id, event_id, day)
    ) without rowid`)
    await run(`insert into person_event_days_new (person_id, event_id, day, count, is_kept)
      select person_id, event_id, day, count, is_kept from person_event_days order by person_id, event_id, day`)
    await run('drop table person_event_days')
    await run('alter table person_event_days_new rename to person_event_days')
    await run('create index person_event_days_by_day on person_event_days (event_id, is_kept, day)')
  },
}
