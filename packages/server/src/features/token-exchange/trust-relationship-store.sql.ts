import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import { countRows } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { canonicalScopes } from '../identity/api-key.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { TrustPatch, TrustRelationship } from './trust-relationship.ts'

export function sqlTrustRelationshipStore(db: Kysely<Tables>) {
  const relationships = () =>
    db
      .selectFrom('trust_relationships')
      .innerJoin('users as creator', 'creator.id', 'trust_relationships.created_by_id')
      .selectAll('trust_relationships')
      .select(embeddedUser('creator'))

  return {
    async create(relationship: TrustRelationship): Promise<void> {
      await db
        .insertInto('trust_relationships')
        .values({
          id: relationship.id,
          organization_id: relationship.organizationId,
          name: relationship.name,
          issuer: relationship.issuer,
          audience: relationship.audience,
          rules: JSON.stringify(relationship.rules),
          scopes: JSON.stringify(relationship.scopes),
          project_ids: JSON.stringify(relationship.projectIds),
          ttl_seconds: relationship.ttlSeconds,
          user_id: relationship.userId,
          created_by_id: relationship.createdBy.id,
          created_at: relationship.createdAt,
          updated_at: relationship.updatedAt,
          last_used_at: relationship.lastUsedAt,
        })
        .execute()
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. */
    update: (relationshipId: string, patch: TrustPatch): Promise<void> =>
      updateSent(db, 'trust_relationships', relationshipId, {
        name: patch.name,
        issuer: patch.issuer,
        audience: patch.audience,
        rules: patch.rules && JSON.stringify(patch.rules),
        scopes: patch.scopes && JSON.stringify(patch.scopes),
        project_ids: patch.projectIds && JSON.stringify(patch.projectIds),
        ttl_seconds: patch.ttlSeconds,
        updated_at: patch.updatedAt,
        last_used_at: patch.lastUsedAt,
      }),
    /** With its keys. */
    async remove(relationshipId: string): Promise<void> {
      await db.deleteFrom('trust_relationships').where('id', '=', relationshipId).execute()
    },
    async removeKeys(relationshipId: string): Promise<void> {
      await db.deleteFrom('api_keys').where('trust_relationship_id', '=', relationshipId).execute()
    },
    /** Those that have not expired. */
    countKeys: (relationshipId: string, now: Instant): Promise<number> =>
      countRows(
        db.selectFrom('api_keys').where('trust_relationship_id', '=', relationshipId).where('expires_at', '>', now),
      ),
    async find(relationshipId: string): Promise<TrustRelationship | undefined> {
      const row = await relationships().where('trust_relationships.id', '=', relationshipId).executeTakeFirst()
      return row && toRelationship(row)
    },
    /** Oldest first. */
    async list(organizationId: string): Promise<readonly TrustRelationship[]> {
      const rows = await relationships()
        .where('trust_relationships.organization_id', '=', organizationId)
        .orderBy('trust_relationships.created_at')
        .orderBy('trust_relationships.id')
        .execute()
      return rows.map(toRelationship)
    },
  }
}

const toRelationship = (row: Tables['trust_relationships'] & EmbeddedUser<'creator'>): TrustRelationship => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  issuer: row.issuer,
  audience: row.audience,
  rules: JSON.parse(row.rules),
  scopes: canonicalScopes(JSON.parse(row.scopes)),
  projectIds: JSON.parse(row.project_ids),
  ttlSeconds: row.ttl_seconds,
  userId: row.user_id,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastUsedAt: row.last_used_at,
})
