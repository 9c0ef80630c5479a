import type { Kysely } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { alreadyTaken } from '../../storage/driver-error.ts'
import { isSqlite } from '../../storage/prepared-query.ts'
import { readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { AccessLevel, Role, RoleMembership } from './access.ts'

export function sqlRoleStore(db: Kysely<Tables>) {
  const roles = () =>
    db
      .selectFrom('roles')
      .innerJoin('users as creator', 'creator.id', 'roles.created_by_id')
      .selectAll('roles')
      .select(embeddedUser('creator'))
  type RoleJoin = Tables['roles'] & EmbeddedUser<'creator'>

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

  return {
    /** Raises `invalid` (`unique`, `name`) when another role of the organization has the name, in any case. */
    async create(role: Omit<Role, 'memberEmails' | 'flagKeys'>): Promise<void> {
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
        throw alreadyTaken(error, 'name', '`name` is already used by another role.')
      }
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. Raises `invalid` (`unique`, `name`) as above. */
    async update(
      roleId: string,
      { name, accessLevel }: { readonly name?: string | undefined; readonly accessLevel?: AccessLevel | undefined },
    ): Promise<void> {
      try {
        await updateSent(db, 'roles', roleId, { name, name_folded: name?.toLowerCase(), access_level: accessLevel })
      } catch (error) {
        throw alreadyTaken(error, 'name', '`name` is already used by another role.')
      }
    },
    /** Until the transaction ends, no other one refers to the role or stops doing so. */
    async hold(roleId: string): Promise<void> {
      // SQLite has one writer.
      if (isSqlite(db)) return
      await db.selectFrom('roles').select('id').where('id', '=', roleId).forUpdate().execute()
    },
    async remove(roleId: string): Promise<void> {
      await db.deleteFrom('roles').where('id', '=', roleId).execute()
    },
    async find(organizationId: string, roleId: string): Promise<Role | undefined> {
      const rows = await roles()
        .where('roles.organization_id', '=', organizationId)
        .where('roles.id', '=', roleId)
        .execute()
      return (await complete(rows))[0]
    },
    async findAll(roleIds: readonly string[]): Promise<readonly Role[]> {
      return roleIds.length === 0 ? [] : complete(await roles().where('roles.id', 'in', roleIds).execute())
    },
    /** By name. */
    async list(organizationId: string, window: Window): Promise<PageOf<Role>> {
      const query = roles()
        .where('roles.organization_id', '=', organizationId)
        .orderBy('roles.name_folded')
        .orderBy('roles.id')
      const { count, items } = await readPage(query, window, row => row)
      return { count, items: await complete(items) }
    },

    /** Raises `invalid` (`unique`, `user_uuid`) when the user is in the role already. */
    async addMember(membership: Omit<RoleMembership, 'user'> & { readonly userId: number }): Promise<void> {
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
        throw alreadyTaken(error, 'user_uuid', '`user_uuid` is already in the role.')
      }
    },
    /** False when there was none. */
    async removeMember(roleId: string, membershipId: string): Promise<boolean> {
      const result = await db
        .deleteFrom('role_memberships')
        .where('role_id', '=', roleId)
        .where('id', '=', membershipId)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Removes the user from every role of the organization. */
    async removeFromAll(organizationId: string, userId: number): Promise<void> {
      await db
        .deleteFrom('role_memberships')
        .where('user_id', '=', userId)
        .where('role_id', 'in', db.selectFrom('roles').select('id').where('organization_id', '=', organizationId))
        .execute()
    },
    /** The roles of a user in an organization. */
    async listMemberships(
      organizationId: string,
      userId: number,
    ): Promise<readonly { readonly id: string; readonly roleId: string }[]> {
      const rows = await db
        .selectFrom('role_memberships')
        .innerJoin('roles', 'roles.id', 'role_memberships.role_id')
        .select(['role_memberships.id', 'role_memberships.role_id'])
        .where('roles.organization_id', '=', organizationId)
        .where('role_memberships.user_id', '=', userId)
        .execute()
      return rows.map(row => ({ id: row.id, roleId: row.role_id }))
    },
    async findMember(roleId: string, membershipId: string): Promise<RoleMembership | undefined> {
      const row = await roleMembers(roleId).where('role_memberships.id', '=', membershipId).executeTakeFirst()
      return row && toRoleMembership(row)
    },
    listMembers(roleId: string, window: Window): Promise<PageOf<RoleMembership>> {
      const query = roleMembers(roleId).orderBy('role_memberships.joined_at').orderBy('role_memberships.id')
      return readPage(query, window, toRoleMembership)
    },
  }
}

const toRoleMembership = (row: Tables['role_memberships'] & EmbeddedUser<'member'>): RoleMembership => ({
  id: row.id,
  roleId: row.role_id,
  user: readUser(row, 'member'),
  joinedAt: row.joined_at,
  updatedAt: row.updated_at,
})
