import type { OrganizationDomain as DomainWire, IdentityProvider as ProviderWire } from '@halyard/contract'
import type { Level } from '../../tenancy.ts'
import {
  type GroupMapping,
  type IdentityProvider,
  type OrganizationDomain,
  recordNameOf,
  recordValueOf,
} from './identity-provider.ts'

export const redirectUriOf = (origin: string, providerId: string): string => `${origin}/login/sso/${providerId}`

/** Without its secret. `origin` is the address that users open. */
export const providerToWire = (provider: IdentityProvider, origin: string): ProviderWire => ({
  id: provider.id,
  name: provider.name,
  issuer: provider.issuer,
  client_id: provider.clientId,
  has_client_secret: provider.clientSecret !== null,
  scopes: [...provider.scopes],
  group_claim: provider.groupClaim,
  group_mappings: provider.groupMappings.map(({ group, level, roleId }) => ({ group, level, role_id: roleId })),
  default_level: provider.defaultLevel,
  session_hours: provider.sessionHours,
  enabled: provider.enabled,
  redirect_uri: redirectUriOf(origin, provider.id),
  backchannel_logout_uri: `${origin}/api/login/sso/${provider.id}/backchannel_logout/`,
  problem: provider.problem,
  last_sign_in_at: provider.lastSignInAt,
  created_at: provider.createdAt,
  updated_at: provider.updatedAt,
})

/** Levels are checked when the provider is saved. */
export const mappingsFromWire = (
  mappings: readonly {
    readonly group: string
    readonly level?: number | null | undefined
    readonly role_id?: string | null | undefined
  }[],
): readonly GroupMapping[] =>
  mappings.map(({ group, level, role_id }) => ({
    group,
    level: (level ?? null) as Level | null,
    roleId: role_id ?? null,
  }))

export const domainToWire = (domain: OrganizationDomain): DomainWire => ({
  id: domain.id,
  domain: domain.domain,
  record_name: recordNameOf(domain.domain),
  record_value: recordValueOf(domain.challenge),
  verified_at: domain.verifiedAt,
  created_at: domain.createdAt,
})
