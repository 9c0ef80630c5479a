import type { Instant } from '../../instant.ts'
import type { Level } from '../../tenancy.ts'

/** What the members of a group of the provider get. */
export interface GroupMapping {
  readonly group: string
  readonly level: Level | null
  readonly roleId: string | null
}

/** An OpenID Connect provider that members of an organization sign in with. */
export interface IdentityProvider {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Sealed; null for a public client. */
  readonly clientSecret: string | null
  readonly scopes: readonly string[]
  readonly groupClaim: string
  readonly groupMappings: readonly GroupMapping[]
  readonly defaultLevel: Level
  readonly sessionHours: number
  readonly enabled: boolean
  /** What was wrong at the last sign-in. */
  readonly problem: string | null
  readonly lastSignInAt: Instant | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export type ProviderPatch = { readonly [Field in keyof IdentityProvider]?: IdentityProvider[Field] | undefined }

/** A domain of email addresses; it counts once it is verified. */
export interface OrganizationDomain {
  readonly id: string
  readonly organizationId: string
  readonly domain: string
  readonly challenge: string
  readonly verifiedAt: Instant | null
  readonly createdAt: Instant
}

export const providersPerOrganizationMax = 20
export const domainsPerOrganizationMax = 50

/** Sealed texts can be opened for this alone. */
export const clientSecretPurpose = 'identity provider secret'
export const idTokenPurpose = 'identity provider id token'

/** What a user with these groups gets: the highest mapped level, and every mapped role. */
export function rightsOf(
  { groupMappings, defaultLevel }: Pick<IdentityProvider, 'groupMappings' | 'defaultLevel'>,
  groups: readonly string[],
): { readonly level: Level; readonly roleIds: ReadonlySet<string> } {
  const matching = groupMappings.filter(({ group }) => groups.includes(group))
  const levels = matching.flatMap(({ level }) => (level === null ? [] : [level]))
  return {
    level: levels.length === 0 ? defaultLevel : (Math.max(...levels) as Level),
    roleIds: new Set(matching.flatMap(({ roleId }) => (roleId === null ? [] : [roleId]))),
  }
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

export const recordNameOf = (domain: string): string => `_halyard.${domain}`
export const recordValueOf = (challenge: string): string => `halyard-verification=${challenge}`
