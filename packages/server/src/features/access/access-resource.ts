import type {
  Flag as FlagWire,
  ResourceAccess as ResourceAccessWire,
  RoleAccess as RoleAccessWire,
  RoleMembership as RoleMembershipWire,
  Role as RoleWire,
} from '@halyard/contract'
import { userToWire } from '../identity/user-resource.ts'
import type { ResourceAccess, Role, RoleAccess, RoleMembership } from './access.ts'

export const roleToWire = (role: Role): RoleWire => ({
  id: role.id,
  name: role.name,
  feature_flags_access_level: role.accessLevel,
  created_at: role.createdAt,
  created_by: userToWire(role.createdBy),
  members: role.memberEmails.join(','),
  associated_flags: role.flagKeys.join(','),
})

export const roleMembershipToWire = (membership: RoleMembership): RoleMembershipWire => ({
  id: membership.id,
  role_id: membership.roleId,
  user: userToWire(membership.user),
  joined_at: membership.joinedAt,
  updated_at: membership.updatedAt,
})

export const resourceAccessToWire = (access: ResourceAccess): ResourceAccessWire => ({
  id: access.id,
  resource: access.resource,
  access_level: access.accessLevel,
  organization: access.organizationId,
  created_at: access.createdAt,
  updated_at: access.updatedAt,
  created_by: userToWire(access.createdBy),
})

export const roleAccessToWire = (access: RoleAccess, flag: FlagWire, role: Role): RoleAccessWire => ({
  id: access.id,
  feature_flag: flag,
  role: roleToWire(role),
  role_id: access.roleId,
  added_at: access.addedAt,
  updated_at: access.updatedAt,
})
