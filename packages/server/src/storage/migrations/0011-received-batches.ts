import type { Migration } from './migration.ts'

/** Which batches of edges have been recorded: an edge repeats a batch until it is acknowledged. */
export const receivedBatches: Migration = {
  version: 11,
  name: 'received-batches',
  async up({ db, text, run }) {
    await db.schema
      .createTable('received_batches')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('received_at', text, c => c.notNull())
      .execute()
    await run('create index received_batches_by_age on received_batches (received_at)')
  },
}
