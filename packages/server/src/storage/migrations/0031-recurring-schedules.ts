import type { Migration } from './migration.ts'

/** Scheduled changes that repeat, come in pairs, or were approved when they were planned. */
export const recurringSchedules: Migration = {
  version: 31,
  name: 'recurring-schedules',
  async up({ run }) {
    for (const column of [
      'is_recurring integer not null default 0',
      'recurrence_interval text',
      'cron_expression text',
      "timezone text not null default 'UTC'",
      'first_at text',
      'end_date text',
      'last_executed_at text',
      // Both changes of a pair carry the same id.
      'pair_id text',
      'change_request_id integer references change_requests (id) on delete set null',
      'content_hash text',
    ]) {
      await run(`alter table scheduled_changes add column ${column}`)
    }
    await run('create index scheduled_changes_by_pair on scheduled_changes (pair_id) where pair_id is not null')
    await run('create index scheduled_changes_by_request on scheduled_changes (change_request_id)')
  },
}
