import type {
  EffectiveAccess as EffectiveAccessWire,
  Flag as FlagWire,
  ResourceAccess as ResourceAccessWire,
  RoleAccess as RoleAccessWire,
  RoleMembership as RoleMembershipWire,
  Role as RoleWire,
} from '@halyard/contract'
import type { User } from '../../tenancy.ts'
import { userToWire } from '../identity/user-resource.ts'
import {
  type EffectiveAccess,
  editAccess,
  type ResourceAccess,
  type Role,
  type RoleAccess,
  type RoleMembership,
} from './access.ts'

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

export const effectiveAccessToWire = (
  user: User,
  { level, source }: EffectiveAccess,
  role: Role | undefined,
): EffectiveAccessWire => ({
  user: userToWire(user),
  access_level: level === editAccess ? 'editor' : 'viewer',
  source: source.kind,
  role: role ? { id: role.id, name: role.name } : null,
})
