import type { Migration } from './migration.ts'

/** How sign-ins were made, second factors with recovery codes, and single-use tokens of accounts: resets, pending sign-ins. */
export const secondFactors: Migration = {
  version: 55,
  name: 'second-factors',
  async up({ db, text, integer, run }) {
    await run("alter table sign_ins add column method text not null default 'password'")
    await run('alter table sign_ins add column proven_at text')
    await run('alter table organizations add column requires_second_factor integer not null default 0')
    // Whether the token was sent by email only, so that using it proves the address.
    await run('alter table invites add column is_emailed integer not null default 0')
    await db.schema
      .createTable('second_factors')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      // The sealed secret of an authenticator app, or the public key of a passkey.
      .addColumn('secret', text, c => c.notNull())
      .addColumn('credential_id', text, c => c.unique())
      // The domain that a passkey belongs to.
      .addColumn('rp_id', text)
      .addColumn('transports', text, c => c.notNull())
      // The last time step of an authenticator app, or the signature counter of a passkey.
      .addColumn('counter', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_used_at', text)
      .execute()
    await run('create index second_factors_by_user on second_factors (user_id)')
    await db.schema
      .createTable('recovery_codes')
      .addColumn('hash', text, c => c.primaryKey())
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .execute()
    await run('create index recovery_codes_by_user on recovery_codes (user_id)')
    await db.schema
      .createTable('account_tokens')
      .addColumn('hash', text, c => c.primaryKey())
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('purpose', text, c => c.notNull())
      .addColumn('data', text, c => c.notNull())
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('expires_at', text, c => c.notNull())
      .execute()
    await run('create index account_tokens_by_user on account_tokens (user_id, purpose)')
    await run('create index account_tokens_by_expiry on account_tokens (expires_at)')
  },
}
