import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { inParts } from '../../storage/in-batches.ts'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { newUuid } from '../identity/secret.ts'
import type { Comparison } from './scim-filter.ts'
import type { ScimGroup, ScimGroupMember } from './scim-group.ts'
import type { ScimUser } from './scim-user.ts'

const groupColumns = {
  id: 'roles.id',
  displayname: 'roles.name_folded',
  externalid: 'scim_groups.external_id',
} as const
export type GroupAttribute = keyof typeof groupColumns

const rowsPerQuery = 100

export function sqlScimGroupStore(db: Kysely<Tables>) {
  const groups = (organizationId: string) =>
    db
      .selectFrom('scim_groups')
      .innerJoin('roles', 'roles.id', 'scim_groups.role_id')
      .selectAll('scim_groups')
      .select('roles.name')
      .where('roles.organization_id', '=', organizationId)

  /** The provisioned users in roles, with those who get them back when they are active again. */
  const membersOf = (organizationId: string, roleIds: readonly string[]) =>
    db
      .selectFrom(({ selectFrom }) =>
        selectFrom('role_memberships')
          .select(['role_id', 'user_id'])
          .where('role_id', 'in', roleIds)
          .union(selectFrom('scim_suspended_roles').select(['role_id', 'user_id']).where('role_id', 'in', roleIds))
          .as('held'),
      )
      .innerJoin('scim_users', 'scim_users.user_id', 'held.user_id')
      .innerJoin('users', 'users.id', 'held.user_id')
      .select(['held.role_id', 'users.id', 'users.uuid', 'scim_users.user_name'])
      .where('scim_users.organization_id', '=', organizationId)
      .where('scim_users.deleted_at', 'is', null)
      .orderBy('scim_users.user_name_folded')
      .execute()

  const rolesOf = (organizationId: string) =>
    db.selectFrom('roles').select('id').where('organization_id', '=', organizationId)

  async function addMemberships(
    members: readonly { readonly role_id: string; readonly user_id: number }[],
    now: Instant,
  ): Promise<void> {
    for (const part of inParts(members, rowsPerQuery)) {
      await db
        .insertInto('role_memberships')
        .values(part.map(member => ({ ...member, id: newUuid(), joined_at: now, updated_at: now })))
        .onConflict(conflict => conflict.doNothing())
        .execute()
    }
  }

  return {
    async find(organizationId: string, roleId: string): Promise<ScimGroup | undefined> {
      const row = await groups(organizationId).where('roles.id', '=', roleId).executeTakeFirst()
      return row && toGroup(row)
    },
    /** The role with this name in any case, whether or not SCIM manages it. */
    async findRole(organizationId: string, name: string): Promise<{ id: string; isProvisioned: boolean } | undefined> {
      const row = await db
        .selectFrom('roles')
        .leftJoin('scim_groups', 'scim_groups.role_id', 'roles.id')
        .select(['roles.id', 'scim_groups.role_id'])
        .where('roles.organization_id', '=', organizationId)
        .where('roles.name_folded', '=', name.toLowerCase())
        .executeTakeFirst()
      return row && { id: row.id, isProvisioned: row.role_id !== null }
    },
    /** Oldest first. */
    list(
      organizationId: string,
      comparisons: readonly Comparison<GroupAttribute>[],
      window: Window,
    ): Promise<PageOf<ScimGroup>> {
      let query = groups(organizationId)
      for (const { attribute, value } of comparisons) {
        query = query.where(groupColumns[attribute], '=', attribute === 'displayname' ? value.toLowerCase() : value)
      }
      return readPage(query.orderBy('scim_groups.created_at').orderBy('scim_groups.role_id'), window, toGroup)
    },
    /** By role, with those who are not active. */
    async listMembers(
      organizationId: string,
      roleIds: readonly string[],
    ): Promise<ReadonlyMap<string, readonly ScimGroupMember[]>> {
      const members = new Map<string, ScimGroupMember[]>(roleIds.map(id => [id, []]))
      if (roleIds.length === 0) return members
      for (const row of await membersOf(organizationId, roleIds)) {
        members.get(row.role_id)?.push({ userId: row.id, uuid: row.uuid, userName: row.user_name })
      }
      return members
    },
    /** Creates or replaces what is known of the group beside its role. */
    async save(roleId: string, externalId: string | null, now: Instant): Promise<void> {
      const columns = { external_id: externalId, updated_at: now }
      await db
        .insertInto('scim_groups')
        .values({ ...columns, role_id: roleId, created_at: now })
        .onConflict(conflict => conflict.column('role_id').doUpdateSet(columns))
        .execute()
    },
    /** Users who are not active get the role when they are. */
    async addMembers(roleId: string, users: readonly ScimUser[], now: Instant): Promise<void> {
      const active = users.filter(({ level }) => level !== null)
      const suspended = users.filter(({ level }) => level === null)
      await addMemberships(
        active.map(({ user }) => ({ role_id: roleId, user_id: user.id })),
        now,
      )
      for (const part of inParts(suspended, rowsPerQuery)) {
        const rows = part.map(({ user }) => ({ role_id: roleId, user_id: user.id }))
        await db
          .insertInto('scim_suspended_roles')
          .values(rows)
          .onConflict(conflict => conflict.doNothing())
          .execute()
      }
    },
    async removeMembers(roleId: string, userIds: readonly number[]): Promise<void> {
      for (const part of inParts(userIds, rowsPerQuery)) {
        for (const table of ['role_memberships', 'scim_suspended_roles'] as const) {
          await db.deleteFrom(table).where('role_id', '=', roleId).where('user_id', 'in', part).execute()
        }
      }
    },
    /** Copies the roles of a user who is about to be deactivated. */
    async suspendRoles(organizationId: string, userId: number): Promise<void> {
      await db
        .insertInto('scim_suspended_roles')
        .columns(['role_id', 'user_id'])
        .expression(
          db
            .selectFrom('role_memberships')
            .select(['role_id', 'user_id'])
            .where('user_id', '=', userId)
            .where('role_id', 'in', rolesOf(organizationId)),
        )
        .onConflict(conflict => conflict.doNothing())
        .execute()
    },
    async restoreRoles(organizationId: string, userId: number, now: Instant): Promise<void> {
      const suspended = await db
        .selectFrom('scim_suspended_roles')
        .select('role_id')
        .where('user_id', '=', userId)
        .where('role_id', 'in', rolesOf(organizationId))
        .execute()
      await addMemberships(
        suspended.map(({ role_id }) => ({ role_id, user_id: userId })),
        now,
      )
      await db
        .deleteFrom('scim_suspended_roles')
        .where('user_id', '=', userId)
        .where('role_id', 'in', rolesOf(organizationId))
        .execute()
    },
    /** Provisioned, with a token that is valid. */
    async isManaged(roleId: string, now: Instant): Promise<boolean> {
      const row = await db
        .selectFrom('scim_groups')
        .innerJoin('roles', 'roles.id', 'scim_groups.role_id')
        .innerJoin('scim_tokens', 'scim_tokens.organization_id', 'roles.organization_id')
        .select('roles.id')
        .where('scim_groups.role_id', '=', roleId)
        .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

const toGroup = (row: Tables['scim_groups'] & { readonly name: string }): ScimGroup => ({
  id: row.role_id,
  name: row.name,
  externalId: row.external_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
