import type { Migration } from './migration.ts'

/** Counts that wait for ClickHouse, written in the transaction of their events. `block` is set once they are sent together. */
export const eventBacklog: Migration = {
  version: 80,
  name: 'event-backlog',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('event_backlog')
      .addColumn('id', idType, id)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('bytes', integer, c => c.notNull())
      .addColumn('block', text)
      .addColumn('body', text, c => c.notNull())
      .execute()
    await run('create index event_backlog_by_block on event_backlog (block)')
  },
}
