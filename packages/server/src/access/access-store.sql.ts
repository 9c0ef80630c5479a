import type { Kysely, Selectable } from 'kysely'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import { invalid } from '../problem.ts'
import { uniqueViolation } from '../storage/driver-error.ts'
import { readPage } from '../storage/read-page.ts'
import type { FlagRoleAccessRow, ResourceAccessRow, RoleMembershipRow, RoleRow, Tables } from '../storage/tables.ts'
import {
  type AccessLevel,
  flagResource,
  type ResourceAccess,
  type Role,
  type RoleAccess,
  type RoleMembership,
} from './access.ts'
import type { AccessStore } from './access-store.ts'

export function sqlAccessStore(db: Kysely<Tables>): AccessStore {
  const roles = () =>
    db
      .selectFrom('roles')
      .innerJoin('users as creator', 'creator.id', 'roles.created_by_id')
      .selectAll('roles')
      .select(embeddedUser('creator'))
  type RoleJoin = RoleRow & EmbeddedUser<'creator'>

  async function complete(rows: readonly RoleJoin[]): Promise<readonly Role[]> {
    if (rows.length === 0) return []
    const ids = rows.map(row => row.id)
    const members = await db
      .selectFrom('role_memberships')
      .innerJoin('users', 'users.id', 'role_memberships.user_id')
      .select(['role_memberships.role_id', 'users.email'])
      .where('role_memberships.role_id', 'in', ids)
      .where('users.is_active', '=', 1)
      .execute()
    const flags = await db
      .selectFrom('flag_role_access')
      .innerJoin('flags', 'flags.id', 'flag_role_access.flag_id')
      .select(['flag_role_access.role_id', 'flags.key'])
      .where('flag_role_access.role_id', 'in', ids)
      .where('flags.deleted', '=', 0)
      .execute()
    return rows.map(row => ({
      id: row.id,
      organizationId: row.organization_id,
      name: row.name,
      accessLevel: row.access_level as AccessLevel,
      createdBy: readUser(row, 'creator'),
      createdAt: row.created_at,
      memberEmails: members
        .filter(member => member.role_id === row.id)
        .map(member => member.email)
        .sort(),
      flagKeys: flags
        .filter(flag => flag.role_id === row.id)
        .map(flag => flag.key)
        .sort(),
    }))
  }

  const roleMembers = (roleId: string) =>
    db
      .selectFrom('role_memberships')
      .innerJoin('users as member', 'member.id', 'role_memberships.user_id')
      .selectAll('role_memberships')
      .select(embeddedUser('member'))
      .where('role_memberships.role_id', '=', roleId)
      .where('member.is_active', '=', 1)

  const resourceAccess = () =>
    db
      .selectFrom('resource_access')
      .innerJoin('users as creator', 'creator.id', 'resource_access.created_by_id')
      .selectAll('resource_access')
      .select(embeddedUser('creator'))

  return {
    async grantsOf(organizationId, userId) {
      const setting = await db
        .selectFrom('resource_access')
        .select('access_level')
        .where('organization_id', '=', organizationId)
        .where('resource', '=', flagResource)
        .executeTakeFirst()
      const own = await db
        .selectFrom('role_memberships')
        .innerJoin('roles', 'roles.id', 'role_memberships.role_id')
        .select(['roles.id', 'roles.access_level'])
        .where('role_memberships.user_id', '=', userId)
        .where('roles.organization_id', '=', organizationId)
        .execute()
      const granted =
        own.length === 0
          ? []
          : await db
              .selectFrom('flag_role_access')
              .select('flag_id')
              .where(
                'role_id',
                'in',
                own.map(role => role.id),
              )
              .execute()
      return {
        userId,
        organizationAccess: setting?.access_level as AccessLevel | undefined,
        roles: own.map(role => ({ id: role.id, accessLevel: role.access_level as AccessLevel })),
        grantedFlagIds: new Set(granted.map(row => row.flag_id)),
      }
    },

    async createRole(role) {
      try {
        await db
          .insertInto('roles')
          .values({
            id: role.id,
            organization_id: role.organizationId,
            name: role.name,
            name_folded: role.name.toLowerCase(),
            access_level: role.accessLevel,
            created_by_id: role.createdBy.id,
            created_at: role.createdAt,
          })
          .execute()
      } catch (error) {
        throw taken(error, 'name', 'There is already a role with this name.')
      }
    },
    async updateRole(roleId, { name, accessLevel }) {
      try {
        await db
          .updateTable('roles')
          .set({ name, name_folded: name.toLowerCase(), access_level: accessLevel })
          .where('id', '=', roleId)
          .execute()
      } catch (error) {
        throw taken(error, 'name', 'There is already a role with this name.')
      }
    },
    async removeRole(roleId) {
      await db.deleteFrom('roles').where('id', '=', roleId).execute()
    },
    async findRole(organizationId, roleId) {
      const rows = await roles()
        .where('roles.organization_id', '=', organizationId)
        .where('roles.id', '=', roleId)
        .execute()
      return (await complete(rows))[0]
    },
    async findRoles(roleIds) {
      return roleIds.length === 0 ? [] : complete(await roles().where('roles.id', 'in', roleIds).execute())
    },
    async listRoles(organizationId, window) {
      const query = roles()
        .where('roles.organization_id', '=', organizationId)
        .orderBy('roles.name_folded')
        .orderBy('roles.id')
      const { count, items } = await readPage(query, window, row => row)
      return { count, items: await complete(items) }
    },

    async addRoleMember(membership) {
      try {
        await db
          .insertInto('role_memberships')
          .values({
            id: membership.id,
            role_id: membership.roleId,
            user_id: membership.userId,
            joined_at: membership.joinedAt,
            updated_at: membership.updatedAt,
          })
          .execute()
      } catch (error) {
        throw taken(error, 'user_uuid', 'This person is in the role already.')
      }
    },
    async removeRoleMember(roleId, membershipId) {
      const result = await db
        .deleteFrom('role_memberships')
        .where('role_id', '=', roleId)
        .where('id', '=', membershipId)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    async removeFromRoles(organizationId, userId) {
      await db
        .deleteFrom('role_memberships')
        .where('user_id', '=', userId)
        .where('role_id', 'in', db.selectFrom('roles').select('id').where('organization_id', '=', organizationId))
        .execute()
    },
    async findRoleMember(roleId, membershipId) {
      const row = await roleMembers(roleId).where('role_memberships.id', '=', membershipId).executeTakeFirst()
      return row && toRoleMembership(row)
    },
    listRoleMembers(roleId, window) {
      const query = roleMembers(roleId).orderBy('role_memberships.joined_at').orderBy('role_memberships.id')
      return readPage(query, window, toRoleMembership)
    },

    async findResourceAccess(organizationId, id) {
      const row = await resourceAccess()
        .where('resource_access.organization_id', '=', organizationId)
        .where('resource_access.id', '=', id)
        .executeTakeFirst()
      return row && toResourceAccess(row)
    },
    async findResourceAccessFor(organizationId, resource) {
      const row = await resourceAccess()
        .where('resource_access.organization_id', '=', organizationId)
        .where('resource_access.resource', '=', resource)
        .executeTakeFirst()
      return row && toResourceAccess(row)
    },
    async createResourceAccess(access) {
      try {
        const { id } = await db
          .insertInto('resource_access')
          .values({
            organization_id: access.organizationId,
            resource: access.resource,
            access_level: access.accessLevel,
            created_by_id: access.createdBy.id,
            created_at: access.createdAt,
            updated_at: access.updatedAt,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return { ...access, id }
      } catch (error) {
        throw taken(error, 'resource', 'Access to this resource is set already; change that setting instead.')
      }
    },
    async updateResourceAccess(id, accessLevel, at) {
      await db
        .updateTable('resource_access')
        .set({ access_level: accessLevel, updated_at: at })
        .where('id', '=', id)
        .execute()
    },
    async removeResourceAccess(id) {
      await db.deleteFrom('resource_access').where('id', '=', id).execute()
    },
    listResourceAccess(organizationId, window) {
      const query = resourceAccess()
        .where('resource_access.organization_id', '=', organizationId)
        .orderBy('resource_access.id')
      return readPage(query, window, toResourceAccess)
    },

    async createRoleAccess(access) {
      try {
        const { id } = await db
          .insertInto('flag_role_access')
          .values({
            flag_id: access.flagId,
            role_id: access.roleId,
            added_at: access.addedAt,
            updated_at: access.updatedAt,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return { ...access, id }
      } catch (error) {
        throw taken(error, 'role_id', 'This role has access to the flag already.')
      }
    },
    async findRoleAccess(flagId, id) {
      const row = await db
        .selectFrom('flag_role_access')
        .selectAll()
        .where('flag_id', '=', flagId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toRoleAccess(row)
    },
    async removeRoleAccess(id) {
      await db.deleteFrom('flag_role_access').where('id', '=', id).execute()
    },
    listRoleAccess(flagId, window) {
      const query = db.selectFrom('flag_role_access').selectAll().where('flag_id', '=', flagId).orderBy('id')
      return readPage(query, window, toRoleAccess)
    },
  }
}

const toResourceAccess = (row: Selectable<ResourceAccessRow> & EmbeddedUser<'creator'>): ResourceAccess => ({
  id: row.id,
  organizationId: row.organization_id,
  resource: row.resource,
  accessLevel: row.access_level as AccessLevel,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toRoleMembership = (row: RoleMembershipRow & EmbeddedUser<'member'>): RoleMembership => ({
  id: row.id,
  roleId: row.role_id,
  user: readUser(row, 'member'),
  joinedAt: row.joined_at,
  updatedAt: row.updated_at,
})

const toRoleAccess = (row: Selectable<FlagRoleAccessRow>): RoleAccess => ({
  id: row.id,
  flagId: row.flag_id,
  roleId: row.role_id,
  addedAt: row.added_at,
  updatedAt: row.updated_at,
})

function taken(error: unknown, field: string, message: string): unknown {
  return uniqueViolation(error) === undefined ? error : invalid(field, 'unique', message)
}
