import type { Kysely, Selectable } from 'kysely'
import { alreadyTaken } from '../../storage/driver-error.ts'
import { readPage } from '../../storage/read-page.ts'
import type { FlagRoleAccessRow, Tables } from '../../storage/tables.ts'
import { type AccessLevel, flagResource, type RoleAccess } from './access.ts'
import type { RoleAccessStore } from './role-access-store.ts'

export function sqlRoleAccessStore(db: Kysely<Tables>): RoleAccessStore {
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

    async create(access) {
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
        throw alreadyTaken(error, 'role_id', 'This role has access to the flag already.')
      }
    },
    async find(flagId, id) {
      const row = await db
        .selectFrom('flag_role_access')
        .selectAll()
        .where('flag_id', '=', flagId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toRoleAccess(row)
    },
    async remove(id) {
      await db.deleteFrom('flag_role_access').where('id', '=', id).execute()
    },
    list(flagId, window) {
      const query = db.selectFrom('flag_role_access').selectAll().where('flag_id', '=', flagId).orderBy('id')
      return readPage(query, window, toRoleAccess)
    },
  }
}

const toRoleAccess = (row: Selectable<FlagRoleAccessRow>): RoleAccess => ({
  id: row.id,
  flagId: row.flag_id,
  roleId: row.role_id,
  addedAt: row.added_at,
  updatedAt: row.updated_at,
})
