import type { Migration } from './migration.ts'

/**
 * The history of a counted event: a row of its own, whose counts by person and day are read from ClickHouse. It never counts as live, also
 * for nodes of earlier versions, since it has an end.
 */
export const behaviorHistory: Migration = {
  version: 88,
  name: 'behavior-history',
  async up({ run, isPostgres }) {
    const [text, integer] = isPostgres ? ['text collate "C"', 'bigint'] : ['text', 'integer']
    await run(
      `alter table counted_events add column history_of ${integer} references counted_events (id) on delete cascade`,
    )
    // The first day of which everything is in ClickHouse.
    await run(`alter table counted_events add column history_from ${text}`)
    // The last distinct id that is done; null before the first.
    await run(`alter table counted_events add column read_after ${text}`)
    await run(`alter table counted_events add column read_ids ${integer}`)
    await run(`alter table counted_events add column total_ids ${integer}`)
    await run(`alter table counted_events add column read_at ${text}`)
    await run('create unique index counted_events_history on counted_events (history_of) where history_of is not null')
    await run(
      'create index counted_events_unread on counted_events (id) where history_of is not null and read_at is null',
    )
  },
}
