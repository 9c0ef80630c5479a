import type { PageOf, Window } from '../../pagination.ts'
import type { AccessLevel, Role, RoleMembership } from './access.ts'

export interface RoleStore {
  /** Raises `invalid` (`unique`, `name`) when another role of the organization has the name, in any case. */
  create(role: Omit<Role, 'memberEmails' | 'flagKeys'>): Promise<void>
  /** Writes what is sent; a field that is undefined keeps its stored value. Raises `invalid` (`unique`, `name`) as above. */
  update(
    roleId: string,
    patch: { readonly name?: string | undefined; readonly accessLevel?: AccessLevel | undefined },
  ): Promise<void>
  /** Until the transaction ends, no other one refers to the role or stops doing so. */
  hold(roleId: string): Promise<void>
  remove(roleId: string): Promise<void>
  find(organizationId: string, roleId: string): Promise<Role | undefined>
  /** By name. */
  list(organizationId: string, window: Window): Promise<PageOf<Role>>
  findAll(roleIds: readonly string[]): Promise<readonly Role[]>

  /** Raises `invalid` (`unique`, `user_uuid`) when the user is in the role already. */
  addMember(membership: Omit<RoleMembership, 'user'> & { readonly userId: number }): Promise<void>
  /** False when there was none. */
  removeMember(roleId: string, membershipId: string): Promise<boolean>
  /** Removes the user from every role of the organization. */
  removeFromAll(organizationId: string, userId: number): Promise<void>
  findMember(roleId: string, membershipId: string): Promise<RoleMembership | undefined>
  listMembers(roleId: string, window: Window): Promise<PageOf<RoleMembership>>
}
