import type { Instant } from '../instant.ts'
import type { PageOf, Window } from '../page.ts'
import type { AccessLevel, FlagGrants, ResourceAccess, Role, RoleAccess, RoleMembership } from './access.ts'

export interface AccessStore {
  /** What the person may do with flags, except their level in the organization. */
  grantsOf(organizationId: string, userId: number): Promise<Omit<FlagGrants, 'level'>>

  /** Raises `invalid` (`unique`, `name`) when another role of the organization has the name, in any case. */
  createRole(role: Omit<Role, 'memberEmails' | 'flagKeys'>): Promise<void>
  /** Raises `invalid` (`unique`, `name`) as above. */
  updateRole(roleId: string, fields: { readonly name: string; readonly accessLevel: AccessLevel }): Promise<void>
  removeRole(roleId: string): Promise<void>
  findRole(organizationId: string, roleId: string): Promise<Role | undefined>
  /** By name. */
  listRoles(organizationId: string, window: Window): Promise<PageOf<Role>>
  findRoles(roleIds: readonly string[]): Promise<readonly Role[]>

  /** Raises `invalid` (`unique`, `user_uuid`) when the person is in the role already. */
  addRoleMember(membership: Omit<RoleMembership, 'user'> & { readonly userId: number }): Promise<void>
  /** False when there was none. */
  removeRoleMember(roleId: string, membershipId: string): Promise<boolean>
  /** Takes the person out of every role of the organization. */
  removeFromRoles(organizationId: string, userId: number): Promise<void>
  findRoleMember(roleId: string, membershipId: string): Promise<RoleMembership | undefined>
  listRoleMembers(roleId: string, window: Window): Promise<PageOf<RoleMembership>>

  findResourceAccess(organizationId: string, id: number): Promise<ResourceAccess | undefined>
  findResourceAccessFor(organizationId: string, resource: string): Promise<ResourceAccess | undefined>
  /** Raises `invalid` (`unique`, `resource`) when the resource is set already. */
  createResourceAccess(access: Omit<ResourceAccess, 'id'>): Promise<ResourceAccess>
  updateResourceAccess(id: number, accessLevel: AccessLevel, at: Instant): Promise<void>
  removeResourceAccess(id: number): Promise<void>
  listResourceAccess(organizationId: string, window: Window): Promise<PageOf<ResourceAccess>>

  /** Raises `invalid` (`unique`, `role_id`) when the role has access already. */
  createRoleAccess(access: Omit<RoleAccess, 'id'>): Promise<RoleAccess>
  findRoleAccess(flagId: number, id: number): Promise<RoleAccess | undefined>
  removeRoleAccess(id: number): Promise<void>
  listRoleAccess(flagId: number, window: Window): Promise<PageOf<RoleAccess>>
}
