import type { Migration } from './migration.ts'

/** When a person was last seen, while persons are removed after some time. A table of its own: `persons` is not locked for long. */
export const personSeen: Migration = {
  version: 53,
  name: 'person-seen',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('person_seen')
      .addColumn('person_id', integer, c => c.primaryKey().references('persons.id').onDelete('cascade'))
      .addColumn('seen_on', text, c => c.notNull())
      .execute()
    await run('create index person_seen_by_day on person_seen (seen_on, person_id)')
  },
}
