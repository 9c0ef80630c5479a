import type { Migration } from './migration.ts'

/** Issuers whose tokens are exchanged for short-lived keys, and which keys these were. */
export const tokenExchange: Migration = {
  version: 66,
  name: 'token exchange',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('trust_relationships')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('issuer', text, c => c.notNull())
      .addColumn('audience', text, c => c.notNull())
      .addColumn('rules', text, c => c.notNull())
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('project_ids', text, c => c.notNull())
      .addColumn('ttl_seconds', integer, c => c.notNull())
      // The account that its keys act as.
      .addColumn('user_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('last_used_at', text)
      .execute()
    await run('create index trust_relationships_by_organization on trust_relationships (organization_id, created_at)')
    await run('create index trust_relationships_by_user on trust_relationships (user_id)')
    await db.schema
      .alterTable('api_keys')
      .addColumn('trust_relationship_id', text, c => c.references('trust_relationships.id').onDelete('cascade'))
      .execute()
    await run(
      'create index api_keys_by_trust_relationship on api_keys (trust_relationship_id) where trust_relationship_id is not null',
    )
  },
}
