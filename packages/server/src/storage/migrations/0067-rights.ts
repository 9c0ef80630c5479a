import type { Migration } from './migration.ts'

/** Service keys, scopes for what controls changes, and which account created or promoted which. */
export const rights: Migration = {
  version: 67,
  name: 'rights',
  async up({ db, text, integer, run }) {
    // An account that no person signs in to: the actor of a service key.
    await run('alter table users add column is_service integer not null default 0')
    // The accounts that a provider creates are tied to the one who set it up.
    await run('alter table identity_providers add column saved_by_id integer')
    await run('alter table approval_policies add column allow_keys integer not null default 0')
    await db.schema
      .createTable('account_ties')
      .addColumn('account_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('by_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('at', text, c => c.notNull())
      .addPrimaryKeyConstraint('account_ties_key', ['account_id', 'by_id'])
      .execute()
    // Keys that managed policies and freezes by `feature_flag:write` continue to; none decides about changes any longer.
    const keys = await db
      .selectFrom('api_keys')
      .select(['id', 'scopes'])
      .where('scopes', 'like', '%"feature_flag:write"%')
      .execute()
    for (const { id, scopes } of keys) {
      const extended = [...new Set([...JSON.parse(scopes), 'approval_policy:write', 'freeze:write'])]
      await db
        .updateTable('api_keys')
        .set({ scopes: JSON.stringify(extended) })
        .where('id', '=', id)
        .execute()
    }
  },
}
