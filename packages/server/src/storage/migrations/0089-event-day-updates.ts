import type { Migration } from './migration.ts'

/**
 * Most events of a day are not the first ones of their person, and update a count. With free space in its page an update writes no entry
 * into either index.
 */
export const eventDayUpdates: Migration = {
  version: 89,
  name: 'event-day-updates',
  async up({ isPostgres, run }) {
    if (isPostgres) await run('alter table person_event_days set (fillfactor = 80)')
  },
}
