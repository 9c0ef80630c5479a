import type { Migration } from './migration.ts'

/**
 * A log per organization in which each entry holds the hash of the one before. No foreign keys: the log outlives what it is about, the
 * organization included.
 */
export const auditLog: Migration = {
  version: 64,
  name: 'audit-log',
  async up({ db, text, integer }) {
    await db.schema
      .createTable('audit_entries')
      .addColumn('organization_id', text, column => column.notNull())
      .addColumn('sequence', integer, column => column.notNull())
      .addColumn('at', text, column => column.notNull())
      .addColumn('user_id', integer)
      .addColumn('operation', text, column => column.notNull())
      .addColumn('objects', text, column => column.notNull())
      .addColumn('content', text, column => column.notNull())
      .addColumn('hash', text, column => column.notNull())
      .addPrimaryKeyConstraint('audit_entries_pkey', ['organization_id', 'sequence'])
      .execute()
    await db.schema
      .createTable('audit_heads')
      .addColumn('organization_id', text, column => column.primaryKey())
      .addColumn('sequence', integer, column => column.notNull())
      .addColumn('hash', text, column => column.notNull())
      .addColumn('previous_hash', text, column => column.notNull())
      .addColumn('pruned_sequence', integer, column => column.notNull().defaultTo(0))
      .addColumn('pruned_hash', text)
      .execute()
  },
}
