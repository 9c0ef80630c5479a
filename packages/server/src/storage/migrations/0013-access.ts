import type { Migration } from './migration.ts'

/** Invitations with a secret, instance administrators, the default access of members, and addresses of successful sign-ins. */
export const access: Migration = {
  version: 13,
  name: 'access',
  async up({ db, text, integer, run }) {
    // Until now the id redeemed an invitation, and every member could list the ids.
    await run('delete from invites')
    await db.schema.alterTable('invites').addColumn('token_hash', text).execute()
    await run('create unique index invites_by_token on invites (token_hash)')

    await db.schema
      .alterTable('organizations')
      .addColumn('default_access_level', integer, c => c.notNull().defaultTo(37))
      .execute()
    await db.schema
      .alterTable('users')
      .addColumn('is_staff', integer, c => c.notNull().defaultTo(0))
      .execute()

    const first = 'select id from organizations order by created_at, id limit 1'
    await run(
      `update users set is_staff = 1
       where id in (select user_id from memberships where level = 15 and organization_id = (${first}))`,
    )
    // Every organization could publish to all others; from now on only those that an instance administrator raises.
    await run(`update organizations set plugins_access_level = 6 where plugins_access_level > 6 and id <> (${first})`)

    await db.schema
      .createTable('known_sign_ins')
      .addColumn('key', text, c => c.primaryKey())
      .addColumn('last_at', text, c => c.notNull())
      .execute()
    await run('create index known_sign_ins_by_age on known_sign_ins (last_at)')
  },
}
