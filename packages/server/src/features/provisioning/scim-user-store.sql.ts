import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { inParts } from '../../storage/in-batches.ts'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Level } from '../../tenancy.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { Comparison } from './scim-filter.ts'
import type { ScimUser } from './scim-user.ts'

export const userColumns = {
  id: 'member.uuid',
  username: 'scim_users.user_name_folded',
  externalid: 'scim_users.external_id',
} as const
export type UserAttribute = keyof typeof userColumns

const idsPerQuery = 500

export function sqlScimUserStore(db: Kysely<Tables>) {
  const users = (organizationId: string) =>
    db
      .selectFrom('scim_users')
      .innerJoin('users as member', 'member.id', 'scim_users.user_id')
      .leftJoin('memberships', join =>
        join
          .onRef('memberships.user_id', '=', 'scim_users.user_id')
          .onRef('memberships.organization_id', '=', 'scim_users.organization_id'),
      )
      .selectAll('scim_users')
      .select(embeddedUser('member'))
      .select('memberships.level as member_level')
      .where('scim_users.organization_id', '=', organizationId)
      .where('scim_users.deleted_at', 'is', null)

  return {
    async find(organizationId: string, userUuid: string): Promise<ScimUser | undefined> {
      const row = await users(organizationId).where('member.uuid', '=', userUuid).executeTakeFirst()
      return row && toScimUser(row)
    },
    async findByName(organizationId: string, userName: string): Promise<ScimUser | undefined> {
      const row = await users(organizationId)
        .where('scim_users.user_name_folded', '=', userName.toLowerCase())
        .executeTakeFirst()
      return row && toScimUser(row)
    },
    async findAll(organizationId: string, userUuids: readonly string[]): Promise<readonly ScimUser[]> {
      const items: ScimUser[] = []
      for (const part of inParts(userUuids, idsPerQuery)) {
        const rows = await users(organizationId).where('member.uuid', 'in', part).execute()
        items.push(...rows.map(toScimUser))
      }
      return items
    },
    /** Oldest first. */
    list(
      organizationId: string,
      comparisons: readonly Comparison<UserAttribute>[],
      window: Window,
    ): Promise<PageOf<ScimUser>> {
      let query = users(organizationId)
      for (const { attribute, value } of comparisons) {
        query = query.where(userColumns[attribute], '=', attribute === 'username' ? value.toLowerCase() : value)
      }
      return readPage(query.orderBy('scim_users.created_at').orderBy('scim_users.user_id'), window, toScimUser)
    },
    /** Also of a user who was deleted: the organization has provisioned the account before. */
    async wasProvisioned(organizationId: string, userId: number): Promise<boolean> {
      const row = await db
        .selectFrom('scim_users')
        .select('user_id')
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row !== undefined
    },
    /** Whether another organization has the account as a member, or can make it one again. */
    async isElsewhere(organizationId: string, userId: number): Promise<boolean> {
      const elsewhere = (table: 'memberships' | 'scim_users') =>
        db
          .selectFrom(table)
          .select('user_id')
          .where('user_id', '=', userId)
          .where('organization_id', '!=', organizationId)
          .executeTakeFirst()
      return ((await elsewhere('memberships')) ?? (await elsewhere('scim_users'))) !== undefined
    },
    /**
     * Where the account is managed by SCIM: provisioned, with a token that is valid. Without one it can be changed by hand. With the user's
     * level there.
     */
    async listManaged(
      userId: number,
      now: Instant,
    ): Promise<
      readonly { readonly organizationId: string; readonly level: Level | null; readonly hasRoles: boolean }[]
    > {
      const rows = await db
        .selectFrom('scim_users')
        .leftJoin('memberships', join =>
          join
            .onRef('memberships.user_id', '=', 'scim_users.user_id')
            .onRef('memberships.organization_id', '=', 'scim_users.organization_id'),
        )
        .select(['scim_users.organization_id', 'scim_users.resource', 'memberships.level'])
        .where('scim_users.user_id', '=', userId)
        .where('scim_users.deleted_at', 'is', null)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('scim_tokens')
              .select('scim_tokens.id')
              .whereRef('scim_tokens.organization_id', '=', 'scim_users.organization_id')
              .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
          ),
        )
        .execute()
      return rows.map(row => ({
        organizationId: row.organization_id,
        level: row.level as Level | null,
        hasRoles: (JSON.parse(row.resource).roles?.length ?? 0) > 0,
      }))
    },
    /** Creates or replaces it; one that was deleted is there again. */
    async save(
      user: Pick<ScimUser, 'organizationId' | 'userName' | 'externalId' | 'attributes'> & { readonly userId: number },
      now: Instant,
    ): Promise<void> {
      const columns = {
        user_name: user.userName,
        user_name_folded: user.userName.toLowerCase(),
        external_id: user.externalId,
        resource: JSON.stringify(user.attributes),
        updated_at: now,
        deleted_at: null,
      }
      await db
        .insertInto('scim_users')
        .values({ ...columns, organization_id: user.organizationId, user_id: user.userId, created_at: now })
        .onConflict(conflict => conflict.columns(['organization_id', 'user_id']).doUpdateSet(columns))
        .execute()
    },
    async setLevelBefore(organizationId: string, userId: number, level: Level | null): Promise<void> {
      await db
        .updateTable('scim_users')
        .set({ level_before: level })
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
    async remove(organizationId: string, userId: number, now: Instant): Promise<void> {
      await db
        .updateTable('scim_users')
        .set({ deleted_at: now })
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
  }
}

const toScimUser = (
  row: Tables['scim_users'] & EmbeddedUser<'member'> & { readonly member_level: number | null },
): ScimUser => ({
  organizationId: row.organization_id,
  user: readUser(row, 'member'),
  userName: row.user_name,
  externalId: row.external_id,
  attributes: JSON.parse(row.resource),
  level: row.member_level as Level | null,
  levelBefore: row.level_before as Level | null,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
