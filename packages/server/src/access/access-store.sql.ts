import type { Kysely, Selectable } from 'kysely'
import { toUser, userColumns } from '../identity/identity-store.sql.ts'
import { invalid } from '../problem.ts'
import { uniqueViolation } from '../storage/driver-error.ts'
import type { FlagRoleAccessRow, Tables } from '../storage/tables.ts'
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
      .innerJoin('users', 'users.id', 'roles.created_by_id')
      .select(userColumns)
      .select(['roles.id as role_id', 'roles.organization_id', 'roles.name', 'roles.access_level', 'roles.created_at'])
  type RoleJoin = Awaited<ReturnType<ReturnType<typeof roles>['execute']>>[number]

  async function complete(rows: readonly RoleJoin[]): Promise<readonly Role[]> {
    if (rows.length === 0) return []
    const ids = rows.map(row => row.role_id)
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
      id: row.role_id,
      organizationId: row.organization_id,
      name: row.name,
      accessLevel: row.access_level as AccessLevel,
      createdBy: toUser(row),
      createdAt: row.created_at,
      memberEmails: members
        .filter(member => member.role_id === row.role_id)
        .map(member => member.email)
        .sort(),
      flagKeys: flags
        .filter(flag => flag.role_id === row.role_id)
        .map(flag => flag.key)
        .sort(),
    }))
  }

  const roleMembers = (roleId: string) =>
    db
      .selectFrom('role_memberships')
      .innerJoin('users', 'users.id', 'role_memberships.user_id')
      .where('role_memberships.role_id', '=', roleId)
      .where('users.is_active', '=', 1)
  const roleMemberColumns = [
    ...userColumns,
    'role_memberships.id as membership_id',
    'role_memberships.role_id',
    'role_memberships.joined_at',
    'role_memberships.updated_at',
  ] as const

  const resourceAccess = () =>
    db
      .selectFrom('resource_access')
      .innerJoin('users', 'users.id', 'resource_access.created_by_id')
      .select(userColumns)
      .select([
        'resource_access.id as access_id',
        'resource_access.organization_id',
        'resource_access.resource',
        'resource_access.access_level',
        'resource_access.created_at',
        'resource_access.updated_at',
      ])
  type ResourceJoin = Awaited<ReturnType<ReturnType<typeof resourceAccess>['execute']>>[number]

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
      const count = await db
        .selectFrom('roles')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const rows = await roles()
        .where('roles.organization_id', '=', organizationId)
        .orderBy('roles.name_folded')
        .orderBy('roles.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: await complete(rows) }
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
      const row = await roleMembers(roleId)
        .select(roleMemberColumns)
        .where('role_memberships.id', '=', membershipId)
        .executeTakeFirst()
      return row && toRoleMembership(row)
    },
    async listRoleMembers(roleId, window) {
      const count = await roleMembers(roleId)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      const rows = await roleMembers(roleId)
        .select(roleMemberColumns)
        .orderBy('role_memberships.joined_at')
        .orderBy('role_memberships.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: rows.map(toRoleMembership) }
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
    async listResourceAccess(organizationId, window) {
      const rows = await resourceAccess()
        .where('resource_access.organization_id', '=', organizationId)
        .orderBy('resource_access.id')
        .execute()
      return {
        count: rows.length,
        items: rows.slice(window.offset, window.offset + window.limit).map(toResourceAccess),
      }
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
    async listRoleAccess(flagId, window) {
      const query = db.selectFrom('flag_role_access').where('flag_id', '=', flagId)
      const count = await query.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const rows = await query.selectAll().orderBy('id').limit(window.limit).offset(window.offset).execute()
      return { count: Number(count.n), items: rows.map(toRoleAccess) }
    },
  }

  function toResourceAccess(row: ResourceJoin): ResourceAccess {
    return {
      id: row.access_id,
      organizationId: row.organization_id,
      resource: row.resource,
      accessLevel: row.access_level as AccessLevel,
      createdBy: toUser(row),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }
  }
}

const toRoleMembership = (
  row: Parameters<typeof toUser>[0] & {
    membership_id: string
    role_id: string
    joined_at: string
    updated_at: string
  },
): RoleMembership => ({
  id: row.membership_id,
  roleId: row.role_id,
  user: toUser(row),
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
