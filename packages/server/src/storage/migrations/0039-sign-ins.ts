import type { Migration } from './migration.ts'

/** Sign-ins that can be listed and revoked, and continued with a refresh token. */
export const signIns: Migration = {
  version: 39,
  name: 'sign-ins',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('sign_ins')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('refresh_hash', text, c => c.unique())
      .addColumn('user_agent', text, c => c.notNull())
      .addColumn('address', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .execute()
    await run('create index sign_ins_by_user on sign_ins (user_id, created_at)')
    await run('create index sign_ins_by_expiry on sign_ins (expires_at)')
    await db.schema
      .alterTable('api_keys')
      .addColumn('sign_in_id', text, c => c.references('sign_ins.id').onDelete('cascade'))
      .execute()
    await run('create index api_keys_by_sign_in on api_keys (sign_in_id) where sign_in_id is not null')
  },
}
