import type { Kysely, Selectable } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { alreadyTaken } from '../../storage/driver-error.ts'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { type AccessLevel, type FlagGrants, flagResource, type RoleAccess, viewAccess } from './access.ts'

/** Which roles can edit which flags. */
export function sqlRoleAccessStore(db: Kysely<Tables>) {
  /** Without flags, the grants of all. */
  async function readGrants(organizationId: string, userIds: readonly number[], flagIds?: readonly number[]) {
    const setting = await db
      .selectFrom('organizations')
      .leftJoin('resource_access', join =>
        join
          .onRef('resource_access.organization_id', '=', 'organizations.id')
          .on('resource_access.resource', '=', flagResource),
      )
      .select(['organizations.default_access_level', 'resource_access.access_level'])
      .where('organizations.id', '=', organizationId)
      .executeTakeFirst()
    const memberships = await db
      .selectFrom('role_memberships')
      .innerJoin('roles', 'roles.id', 'role_memberships.role_id')
      .select(['role_memberships.user_id', 'roles.id', 'roles.access_level'])
      .where('role_memberships.user_id', 'in', userIds)
      .where('roles.organization_id', '=', organizationId)
      .orderBy('roles.name')
      .execute()
    const granted = await grantsOfRoles([...new Set(memberships.map(role => role.id))], flagIds)
    return userIds.map((userId): Omit<FlagGrants, 'level'> => {
      const own = memberships.filter(role => role.user_id === userId)
      const roleIds = new Set(own.map(role => role.id))
      return {
        userId,
        organizationAccess: (setting?.access_level ?? undefined) as AccessLevel | undefined,
        defaultAccess: (setting?.default_access_level ?? viewAccess) as AccessLevel,
        roles: own.map(role => ({ id: role.id, accessLevel: role.access_level as AccessLevel })),
        grantedFlags: byFlag(granted.filter(({ role_id }) => roleIds.has(role_id))),
      }
    })
  }

  function grantsOfRoles(roleIds: readonly string[], flagIds: readonly number[] | undefined) {
    if (roleIds.length === 0 || flagIds?.length === 0) return []
    const granted = db
      .selectFrom('flag_role_access')
      .select(['id', 'flag_id', 'role_id'])
      .where('role_id', 'in', roleIds)
    return (flagIds === undefined ? granted : granted.where('flag_id', 'in', flagIds)).execute()
  }

  return {
    /** What the user can do with flags, except their level in the organization. */
    async grantsOf(organizationId: string, userId: number): Promise<Omit<FlagGrants, 'level'>> {
      const [grants] = await readGrants(organizationId, [userId])
      return grants!
    },
    /** The same for several users, in the order of the ids, with the grants of these flags only. */
    grantsOfAll: (
      organizationId: string,
      userIds: readonly number[],
      flagIds: readonly number[],
    ): Promise<readonly Omit<FlagGrants, 'level'>[]> => readGrants(organizationId, userIds, flagIds),

    /** Raises `invalid` (`unique`, `role_id`) when the role has access already. */
    async create(access: Omit<RoleAccess, 'id'>): Promise<RoleAccess> {
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
        throw alreadyTaken(error, 'role_id', '`role_id` already has access to the flag.')
      }
    },
    async find(flagId: number, id: number): Promise<RoleAccess | undefined> {
      const row = await db
        .selectFrom('flag_role_access')
        .selectAll()
        .where('flag_id', '=', flagId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toRoleAccess(row)
    },
    async findByRole(flagId: number, roleId: string): Promise<RoleAccess | undefined> {
      const row = await db
        .selectFrom('flag_role_access')
        .selectAll()
        .where('flag_id', '=', flagId)
        .where('role_id', '=', roleId)
        .executeTakeFirst()
      return row && toRoleAccess(row)
    },
    async remove(id: number): Promise<void> {
      await db.deleteFrom('flag_role_access').where('id', '=', id).execute()
    },
    list(flagId: number, window: Window): Promise<PageOf<RoleAccess>> {
      const query = db.selectFrom('flag_role_access').selectAll().where('flag_id', '=', flagId).orderBy('id')
      return readPage(query, window, toRoleAccess)
    },
  }
}

function byFlag(rows: readonly { readonly id: number; readonly flag_id: number }[]): Map<number, number[]> {
  const idsByFlag = new Map<number, number[]>()
  for (const { id, flag_id } of rows) idsByFlag.set(flag_id, [...(idsByFlag.get(flag_id) ?? []), id])
  return idsByFlag
}

const toRoleAccess = (row: Selectable<Tables['flag_role_access']>): RoleAccess => ({
  id: row.id,
  flagId: row.flag_id,
  roleId: row.role_id,
  addedAt: row.added_at,
  updatedAt: row.updated_at,
})
