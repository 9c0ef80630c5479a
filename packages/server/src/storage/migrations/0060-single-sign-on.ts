import type { Migration } from './migration.ts'

/** Identity providers of organizations, their domains, the accounts linked to them, and the sign-ins made with them. */
export const singleSignOn: Migration = {
  version: 60,
  name: 'single sign-on',
  async up({ db, text, integer, run }) {
    await db.schema
      .createTable('identity_providers')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('issuer', text, c => c.notNull())
      .addColumn('client_id', text, c => c.notNull())
      .addColumn('client_secret', text)
      .addColumn('scopes', text, c => c.notNull())
      .addColumn('group_claim', text, c => c.notNull())
      .addColumn('group_mappings', text, c => c.notNull())
      .addColumn('default_level', integer, c => c.notNull())
      .addColumn('session_hours', integer, c => c.notNull())
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('problem', text)
      .addColumn('last_sign_in_at', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .execute()
    await run('create index identity_providers_by_organization on identity_providers (organization_id, created_at)')
    await db.schema
      .createTable('identity_links')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('provider_id', text, c => c.notNull().references('identity_providers.id').onDelete('cascade'))
      .addColumn('subject', text, c => c.notNull())
      .addColumn('user_id', integer, c => c.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create unique index identity_links_by_subject on identity_links (provider_id, subject)')
    await run('create unique index identity_links_by_user on identity_links (user_id, provider_id)')
    await db.schema
      .createTable('organization_domains')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('domain', text, c => c.notNull())
      .addColumn('challenge', text, c => c.notNull())
      .addColumn('verified_at', text)
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create unique index organization_domains_by_name on organization_domains (domain, organization_id)')
    await run('create index organization_domains_by_organization on organization_domains (organization_id)')
    // States of sign-ins and ids of logout tokens, until a replay would be refused for its age.
    await db.schema
      .createTable('used_tokens')
      .addColumn('hash', text, c => c.primaryKey())
      .addColumn('expires_at', text, c => c.notNull())
      .execute()
    await run('create index used_tokens_by_expiry on used_tokens (expires_at)')
    await db.schema
      .alterTable('sign_ins')
      .addColumn('provider_id', text, c => c.references('identity_providers.id').onDelete('cascade'))
      .execute()
    await db.schema.alterTable('sign_ins').addColumn('provider_session_id', text).execute()
    await db.schema.alterTable('sign_ins').addColumn('id_token', text).execute()
    await run('create index sign_ins_by_provider on sign_ins (provider_id, user_id) where provider_id is not null')
    await db.schema
      .alterTable('organizations')
      .addColumn('requires_single_sign_on', integer, c => c.notNull().defaultTo(0))
      .execute()
  },
}
