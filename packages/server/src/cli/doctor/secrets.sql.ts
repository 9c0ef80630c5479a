import type { Kysely } from 'kysely'
import type { Tables } from '../../storage/tables.generated.ts'

export interface StoredSecret {
  readonly kind:
    | 'personal API key'
    | 'service key'
    | 'project secret key'
    | 'SCIM token'
    | 'client secret'
    | 'webhook secret'
    | 'secret key'
    | 'checkpoint key'
  readonly label: string
  /** The person, project, organization or installation that it belongs to. */
  readonly of: string
  readonly mask: string
  /** Null when it is not known: an earlier version did not note it. */
  readonly created_at: string | null
  readonly last_used_at: string | null
  readonly expires_at: string | null
}

export const noUse = { last_used_at: null, expires_at: null }

/** Every secret of a person, project or organization that does not expire within hours, without its value. */
export async function listSecrets(db: Kysely<Tables>): Promise<readonly StoredSecret[]> {
  const keys = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(['label', 'email', 'mask', 'created_at', 'last_used_at', 'expires_at', 'is_service'])
    .where('is_session', '=', 0)
    .execute()
  const projectKeys = await db
    .selectFrom('secret_keys')
    .innerJoin('projects', 'projects.id', 'secret_keys.project_id')
    .select(['label', 'name', 'mask', 'secret_keys.created_at'])
    .execute()
  const scimTokens = await db
    .selectFrom('scim_tokens')
    .innerJoin('organizations', 'organizations.id', 'scim_tokens.organization_id')
    .select(['label', 'name', 'mask', 'scim_tokens.created_at', 'last_used_at', 'expires_at'])
    .execute()
  const providers = await db
    .selectFrom('identity_providers')
    .innerJoin('organizations', 'organizations.id', 'identity_providers.organization_id')
    .select(['identity_providers.name as label', 'organizations.name', 'identity_providers.created_at'])
    .where('client_secret', 'is not', null)
    .execute()
  const webhooks = await db
    .selectFrom('webhooks')
    .innerJoin('projects', 'projects.id', 'webhooks.project_id')
    .select(['webhooks.name as label', 'projects.name', 'webhooks.created_at'])
    .execute()
  return [
    ...keys.map(({ email, is_service, ...key }) => ({
      kind: is_service === 1 ? ('service key' as const) : ('personal API key' as const),
      of: email,
      ...key,
    })),
    ...projectKeys.map(({ name, ...key }) => ({ kind: 'project secret key' as const, of: name, ...key, ...noUse })),
    ...scimTokens.map(({ name, ...token }) => ({ kind: 'SCIM token' as const, of: name, ...token })),
    ...providers.map(({ name, ...provider }) => ({
      kind: 'client secret' as const,
      of: name,
      mask: '',
      ...provider,
      ...noUse,
    })),
    ...webhooks.map(({ name, ...hook }) => ({
      kind: 'webhook secret' as const,
      of: name,
      mask: '',
      ...hook,
      ...noUse,
    })),
  ]
}
