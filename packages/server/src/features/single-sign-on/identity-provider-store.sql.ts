import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../instant.ts'
import { alreadyTaken, uniqueViolation } from '../../storage/driver-error.ts'
import { StaleWrite, updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Level } from '../../tenancy.ts'
import { newUuid } from '../identity/secret.ts'
import type { IdentityProvider, OrganizationDomain, ProviderPatch } from './identity-provider.ts'

export const sqlIdentityProviderStore = (db: Kysely<Tables>) => ({
  ...providerRows(db),
  ...linkRows(db),
  ...domainRows(db),
})

function providerRows(db: Kysely<Tables>) {
  /** What the sign-in page offers. */
  const enabled = () =>
    db
      .selectFrom('identity_providers')
      .selectAll('identity_providers')
      .where('enabled', '=', 1)
      .orderBy('identity_providers.name')
      .orderBy('identity_providers.id')
      .limit(20)

  return {
    async create(provider: IdentityProvider): Promise<void> {
      await db
        .insertInto('identity_providers')
        .values({
          id: provider.id,
          organization_id: provider.organizationId,
          name: provider.name,
          issuer: provider.issuer,
          client_id: provider.clientId,
          client_secret: provider.clientSecret,
          scopes: JSON.stringify(provider.scopes),
          group_claim: provider.groupClaim,
          group_mappings: JSON.stringify(provider.groupMappings),
          default_level: provider.defaultLevel,
          session_hours: provider.sessionHours,
          enabled: Number(provider.enabled),
          problem: provider.problem,
          last_sign_in_at: provider.lastSignInAt,
          created_at: provider.createdAt,
          updated_at: provider.updatedAt,
        })
        .execute()
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. */
    update: (providerId: string, patch: ProviderPatch): Promise<void> =>
      updateSent(db, 'identity_providers', providerId, {
        name: patch.name,
        issuer: patch.issuer,
        client_id: patch.clientId,
        client_secret: patch.clientSecret,
        scopes: patch.scopes && JSON.stringify(patch.scopes),
        group_claim: patch.groupClaim,
        group_mappings: patch.groupMappings && JSON.stringify(patch.groupMappings),
        default_level: patch.defaultLevel,
        session_hours: patch.sessionHours,
        enabled: patch.enabled === undefined ? undefined : Number(patch.enabled),
        problem: patch.problem,
        last_sign_in_at: patch.lastSignInAt,
        updated_at: patch.updatedAt,
      }),
    /** Who created or changed it last: they decide which accounts it creates. */
    async recordEditor(providerId: string, userId: number): Promise<void> {
      await db.updateTable('identity_providers').set({ saved_by_id: userId }).where('id', '=', providerId).execute()
    },
    async findEditor(providerId: string): Promise<number | undefined> {
      const provider = db.selectFrom('identity_providers').select('saved_by_id').where('id', '=', providerId)
      return (await provider.executeTakeFirst())?.saved_by_id ?? undefined
    },
    /** With its links and sign-ins. */
    async remove(providerId: string): Promise<void> {
      await db.deleteFrom('identity_providers').where('id', '=', providerId).execute()
    },
    async find(providerId: string): Promise<IdentityProvider | undefined> {
      const row = await db.selectFrom('identity_providers').selectAll().where('id', '=', providerId).executeTakeFirst()
      return row && toProvider(row)
    },
    /** Oldest first. */
    async list(organizationId: string): Promise<readonly IdentityProvider[]> {
      const rows = await db
        .selectFrom('identity_providers')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(toProvider)
    },
    /** The enabled ones of the organizations that have verified the domain. */
    async listForDomain(domain: string): Promise<readonly IdentityProvider[]> {
      const rows = await enabled()
        .innerJoin('organization_domains', 'organization_domains.organization_id', 'identity_providers.organization_id')
        .where('organization_domains.domain', '=', domain)
        .where('organization_domains.verified_at', 'is not', null)
        .execute()
      return rows.map(toProvider)
    },
    async listForSlug(slug: string): Promise<readonly IdentityProvider[]> {
      const rows = await enabled()
        .innerJoin('organizations', 'organizations.id', 'identity_providers.organization_id')
        .where('organizations.slug', '=', slug)
        .execute()
      return rows.map(toProvider)
    },
  }
}

/** Which account a subject of a provider signs in to, and the tokens that were used up. */
function linkRows(db: Kysely<Tables>) {
  return {
    /** The account that a subject of the provider signs in to. */
    async findLinkedUser(providerId: string, subject: string): Promise<number | undefined> {
      const row = await db
        .selectFrom('identity_links')
        .select('user_id')
        .where('provider_id', '=', providerId)
        .where('subject', '=', subject)
        .executeTakeFirst()
      return row?.user_id
    },
    async isLinked(providerId: string, userId: number): Promise<boolean> {
      const row = await db
        .selectFrom('identity_links')
        .select('id')
        .where('provider_id', '=', providerId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row !== undefined
    },
    /** Raises `StaleWrite` when another sign-in linked the subject first. */
    async link(providerId: string, subject: string, userId: number, at: Instant): Promise<void> {
      try {
        await db
          .insertInto('identity_links')
          .values({ id: newUuid(), provider_id: providerId, subject, user_id: userId, created_at: at })
          .execute()
      } catch (error) {
        throw uniqueViolation(error) === undefined ? error : new StaleWrite()
      }
    },
    /** Removes the links of a provider or, in an organization, those of one user. */
    async unlink(from: { readonly providerId: string } | { readonly organizationId: string; readonly userId: number }) {
      const links = db.deleteFrom('identity_links')
      await ('providerId' in from
        ? links.where('provider_id', '=', from.providerId)
        : links
            .where('user_id', '=', from.userId)
            .where('provider_id', 'in', ({ selectFrom }) =>
              selectFrom('identity_providers').select('id').where('organization_id', '=', from.organizationId),
            )
      ).execute()
    },
    /** False when it was used before. Those that have expired are forgotten. */
    async useToken(hash: string, expiresAt: Instant, now: Instant): Promise<boolean> {
      await db.deleteFrom('used_tokens').where('expires_at', '<', now).execute()
      const result = await db
        .insertInto('used_tokens')
        .values({ hash, expires_at: expiresAt })
        .onConflict(conflict => conflict.doNothing())
        .executeTakeFirst()
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
  }
}

function domainRows(db: Kysely<Tables>) {
  return {
    /** Raises `invalid` (`unique`, `domain`) when the organization has it. */
    async addDomain(domain: OrganizationDomain): Promise<void> {
      try {
        await db
          .insertInto('organization_domains')
          .values({
            id: domain.id,
            organization_id: domain.organizationId,
            domain: domain.domain,
            challenge: domain.challenge,
            verified_at: domain.verifiedAt,
            created_at: domain.createdAt,
          })
          .execute()
      } catch (error) {
        throw alreadyTaken(error, 'domain', '`domain` was already added.')
      }
    },
    async verifyDomain(domainId: string, at: Instant): Promise<void> {
      await db.updateTable('organization_domains').set({ verified_at: at }).where('id', '=', domainId).execute()
    },
    async removeDomain(domainId: string): Promise<void> {
      await db.deleteFrom('organization_domains').where('id', '=', domainId).execute()
    },
    async findDomain(organizationId: string, domainId: string): Promise<OrganizationDomain | undefined> {
      const row = await db
        .selectFrom('organization_domains')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('id', '=', domainId)
        .executeTakeFirst()
      return row && toDomain(row)
    },
    /** By name. */
    async listDomains(organizationId: string): Promise<readonly OrganizationDomain[]> {
      const rows = await db
        .selectFrom('organization_domains')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('domain')
        .execute()
      return rows.map(toDomain)
    },
    /** The organizations that have verified it. */
    async listDomainOwners(domain: string): Promise<readonly string[]> {
      const rows = await db
        .selectFrom('organization_domains')
        .select('organization_id')
        .where('domain', '=', domain)
        .where('verified_at', 'is not', null)
        .execute()
      return rows.map(row => row.organization_id)
    },
  }
}

const toProvider = (row: Selectable<Tables['identity_providers']>): IdentityProvider => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  issuer: row.issuer,
  clientId: row.client_id,
  clientSecret: row.client_secret,
  scopes: JSON.parse(row.scopes),
  groupClaim: row.group_claim,
  groupMappings: JSON.parse(row.group_mappings),
  defaultLevel: row.default_level as Level,
  sessionHours: row.session_hours,
  enabled: row.enabled === 1,
  problem: row.problem,
  lastSignInAt: row.last_sign_in_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toDomain = (row: Selectable<Tables['organization_domains']>): OrganizationDomain => ({
  id: row.id,
  organizationId: row.organization_id,
  domain: row.domain,
  challenge: row.challenge,
  verifiedAt: row.verified_at,
  createdAt: row.created_at,
})
