import type { Migration } from './migration.ts'

/** Users and groups that an identity provider provisions by SCIM, and the tokens with which it does. */
export const provisioning: Migration = {
  version: 72,
  name: 'provisioning',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('scim_tokens')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      // The account that acts through it.
      .addColumn('user_id', integer, c => c.notNull().references('users.id'))
      .addColumn('label', text, c => c.notNull())
      .addColumn('hash', text, c => c.notNull().unique())
      .addColumn('mask', text, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('expires_at', text)
      .addColumn('last_used_at', text)
      .execute()
    await run('create index scim_tokens_by_organization on scim_tokens (organization_id, created_at)')
    await db.schema
      .createTable('scim_users')
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('user_name', text, c => c.notNull())
      .addColumn('user_name_folded', text, c => c.notNull())
      .addColumn('external_id', text)
      .addColumn('resource', text, c => c.notNull())
      // The level from before the user was deactivated.
      .addColumn('level_before', integer)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      // The account stays known to the organization, so that it can be provisioned again.
      .addColumn('deleted_at', text)
      .addPrimaryKeyConstraint('scim_users_key', ['organization_id', 'user_id'])
      .execute()
    await run(
      'create unique index scim_users_by_name on scim_users (organization_id, user_name_folded) where deleted_at is null',
    )
    await run('create index scim_users_by_external_id on scim_users (organization_id, external_id)')
    await run('create index scim_users_by_user on scim_users (user_id)')
    await db.schema
      .createTable('scim_groups')
      .addColumn('role_id', text, c => c.primaryKey().references('roles.id').onDelete('cascade'))
      .addColumn('external_id', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .execute()
    // The roles of deactivated users.
    await db.schema
      .createTable('scim_suspended_roles')
      .addColumn('role_id', text, c => c.notNull().references('roles.id').onDelete('cascade'))
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('scim_suspended_roles_key', ['role_id', 'user_id'])
      .execute()
    await run('create index scim_suspended_roles_by_user on scim_suspended_roles (user_id)')
  },
}
