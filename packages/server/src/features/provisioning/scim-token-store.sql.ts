import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Actor, Level } from '../../tenancy.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { ScimToken } from './scim-token.ts'

export function sqlScimTokenStore(db: Kysely<Tables>) {
  return {
    async create(token: ScimToken): Promise<void> {
      await db
        .insertInto('scim_tokens')
        .values({
          id: token.id,
          organization_id: token.organizationId,
          user_id: token.userId,
          label: token.label,
          hash: token.hash,
          mask: token.mask,
          created_by_id: token.createdBy.id,
          created_at: token.createdAt,
          expires_at: token.expiresAt,
          last_used_at: token.lastUsedAt,
        })
        .execute()
    },
    async remove(tokenId: string): Promise<void> {
      await db.deleteFrom('scim_tokens').where('id', '=', tokenId).execute()
    },
    async touch(tokenId: string, at: Instant): Promise<void> {
      await db.updateTable('scim_tokens').set({ last_used_at: at }).where('id', '=', tokenId).execute()
    },
    /** Newest first. */
    async list(organizationId: string): Promise<readonly ScimToken[]> {
      const rows = await db
        .selectFrom('scim_tokens')
        .innerJoin('users as creator', 'creator.id', 'scim_tokens.created_by_id')
        .selectAll('scim_tokens')
        .select(embeddedUser('creator'))
        .where('scim_tokens.organization_id', '=', organizationId)
        .orderBy('scim_tokens.created_at', 'desc')
        .orderBy('scim_tokens.id')
        .execute()
      return rows.map(toToken)
    },
    /** Who acts through a token that has not expired. */
    async findHolder(
      hash: string,
      now: Instant,
    ): Promise<{ actor: Actor; organizationId: string; lastUsedAt: Instant | null } | undefined> {
      const row = await db
        .selectFrom('scim_tokens')
        .innerJoin('users as holder', 'holder.id', 'scim_tokens.user_id')
        .innerJoin('memberships', join =>
          join
            .onRef('memberships.user_id', '=', 'holder.id')
            .onRef('memberships.organization_id', '=', 'scim_tokens.organization_id'),
        )
        .selectAll('scim_tokens')
        .select('memberships.level')
        .select(embeddedUser('holder'))
        .where('scim_tokens.hash', '=', hash)
        .where(({ or, eb }) => or([eb('scim_tokens.expires_at', 'is', null), eb('scim_tokens.expires_at', '>', now)]))
        .executeTakeFirst()
      if (!row) return undefined
      const { id, organization_id: organizationId, label, expires_at: expiresAt, last_used_at: lastUsedAt } = row
      const key = { id, label, scopes: [], projectIds: [], organizationIds: [organizationId], isSession: false }
      const actor: Actor = {
        user: readUser(row, 'holder'),
        isStaff: false,
        isService: true,
        key: { ...key, expiresAt },
        levels: new Map([[organizationId, row.level as Level]]),
        currentOrganizationId: organizationId,
        currentProjectId: null,
      }
      return { actor, organizationId, lastUsedAt }
    },
  }
}

const toToken = (row: Tables['scim_tokens'] & EmbeddedUser<'creator'>): ScimToken => ({
  id: row.id,
  organizationId: row.organization_id,
  userId: row.user_id,
  label: row.label,
  hash: row.hash,
  mask: row.mask,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
})
