import type { Migration } from '../migrations/migration.ts'
import { partitions } from './0001-persons.ts'

/** As in the main database. Storage parameters are those of each partition. */
export const eventDayUpdates: Migration = {
  version: 2,
  name: 'event-day-updates',
  async up({ isPostgres, run }) {
    if (!isPostgres) return
    for (let remainder = 0; remainder < partitions; remainder++)
      await run(`alter table "person_event_days_${remainder}" set (fillfactor = 80)`)
  },
}
