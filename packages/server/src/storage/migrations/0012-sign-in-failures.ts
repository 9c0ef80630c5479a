import type { Migration } from './migration.ts'

/** Wrong passwords, counted for accounts and addresses by all nodes together. */
export const signInFailures: Migration = {
  version: 12,
  name: 'sign-in-failures',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('sign_in_failures')
      .addColumn('key', text, c => c.primaryKey())
      .addColumn('count', integer, c => c.notNull())
      .addColumn('since', text, c => c.notNull())
      .execute()
    await run('create index sign_in_failures_by_age on sign_in_failures (since)')
  },
}
