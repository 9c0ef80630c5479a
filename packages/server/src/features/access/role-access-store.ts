import type { PageOf, Window } from '../../pagination.ts'
import type { FlagGrants, RoleAccess } from './access.ts'

/** Which roles can edit which flags. */
export interface RoleAccessStore {
  /** What the user can do with flags, except their level in the organization. */
  grantsOf(organizationId: string, userId: number): Promise<Omit<FlagGrants, 'level'>>
  /** The same for several users, in the order of the ids, with the grants of these flags only. */
  grantsOfAll(
    organizationId: string,
    userIds: readonly number[],
    flagIds: readonly number[],
  ): Promise<readonly Omit<FlagGrants, 'level'>[]>

  /** Raises `invalid` (`unique`, `role_id`) when the role has access already. */
  create(access: Omit<RoleAccess, 'id'>): Promise<RoleAccess>
  find(flagId: number, id: number): Promise<RoleAccess | undefined>
  findByRole(flagId: number, roleId: string): Promise<RoleAccess | undefined>
  remove(id: number): Promise<void>
  list(flagId: number, window: Window): Promise<PageOf<RoleAccess>>
}
