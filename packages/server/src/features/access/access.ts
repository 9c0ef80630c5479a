import type { Instant } from '../../instant.ts'
import { adminLevel, type Level, memberLevel, type User } from '../../tenancy.ts'

/** Role-based access to flags. The numbers are PostHog's. */
export const viewAccess = 21
export const editAccess = 37
export type AccessLevel = typeof viewAccess | typeof editAccess
export const isAccessLevel = (value: number): value is AccessLevel => value === viewAccess || value === editAccess

/** The resource whose organization-wide setting governs flags. */
export const flagResource = 'feature flags'
export const resources = [
  flagResource,
  'experiments',
  'cohorts',
  'data management',
  'session recordings',
  'insights',
  'dashboards',
]

export interface Role {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly accessLevel: AccessLevel
  readonly createdBy: User
  readonly createdAt: Instant
  /** Email addresses of active members, sorted. */
  readonly memberEmails: readonly string[]
  /** Keys of live flags that name this role in their role access, sorted. */
  readonly flagKeys: readonly string[]
}

export interface RoleMembership {
  readonly id: string
  readonly roleId: string
  readonly user: User
  readonly joinedAt: Instant
  readonly updatedAt: Instant
}

export interface ResourceAccess {
  readonly id: number
  readonly organizationId: string
  readonly resource: string
  readonly accessLevel: AccessLevel
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface RoleAccess {
  readonly id: number
  readonly flagId: number
  readonly roleId: string
  readonly addedAt: Instant
  readonly updatedAt: Instant
}

/** Everything that decides what one user can do with the flags of one organization. */
export interface FlagGrants {
  readonly userId: number
  readonly level: Level | undefined
  /** The organization-wide setting for flags; undefined when there is none. */
  readonly organizationAccess: AccessLevel | undefined
  /** The organization's default for members without a role. */
  readonly defaultAccess: AccessLevel
  readonly roles: readonly { readonly id: string; readonly accessLevel: AccessLevel }[]
  /** Flag id → ids of the role-access records that name one of the user's roles. */
  readonly grantedFlags: ReadonlyMap<number, readonly number[]>
}

/** What of a flag decides about access to it. */
export interface AccessTarget {
  readonly id: number
  readonly createdBy: User
}

/** The rule that decided what a user can do with a flag. */
export type AccessSource =
  /** A membership level that writes nothing. */
  | { readonly kind: 'level' }
  | { readonly kind: 'creator' }
  | { readonly kind: 'admin' }
  /** The organization-wide setting for flags. */
  | { readonly kind: 'organization' }
  /** The organization's default for members without a role. */
  | { readonly kind: 'default' }
  | { readonly kind: 'role'; readonly roleId: string }
  /** A role-access record of the flag. */
  | { readonly kind: 'role_access'; readonly roleAccessId: number }

export interface EffectiveAccess {
  readonly level: AccessLevel
  readonly source: AccessSource
}

/**
 * What a user can do with a flag, and why. The first rule that applies decides. With `roleAccessId`: as if that role-access
 * record did not exist.
 */
export function effectiveAccess(grants: FlagGrants, flag: AccessTarget, roleAccessId?: number): EffectiveAccess {
  const general = generalAccess(grants)
  if (general.source.kind === 'level') return general
  if (flag.createdBy.id === grants.userId) return { level: editAccess, source: { kind: 'creator' } }
  const granted = (grants.grantedFlags.get(flag.id) ?? []).find(id => id !== roleAccessId)
  if (general.level === editAccess || granted === undefined) return general
  return { level: editAccess, source: { kind: 'role_access', roleAccessId: granted } }
}

/** What a user can do with any flag: by the highest role, or as the organization has set it for members without one. */
export function generalAccess({ level, roles, organizationAccess, defaultAccess }: FlagGrants): EffectiveAccess {
  if (level !== undefined && level < memberLevel) return { level: viewAccess, source: { kind: 'level' } }
  if ((level ?? 0) >= adminLevel) return { level: editAccess, source: { kind: 'admin' } }
  if (organizationAccess === editAccess) return { level: editAccess, source: { kind: 'organization' } }
  const role = roles.find(({ accessLevel }) => accessLevel === editAccess) ?? roles[0]
  if (role) return { level: role.accessLevel, source: { kind: 'role', roleId: role.id } }
  if (organizationAccess) return { level: organizationAccess, source: { kind: 'organization' } }
  return { level: defaultAccess, source: { kind: 'default' } }
}

/**
 * A view-only member, or one who was given no role but ones that view flags: these write nothing in projects, except flags that they
 * created or that one of their roles has access to. The organization's settings for members are no role.
 */
export function isViewer(grants: FlagGrants): boolean {
  const { level, source } = generalAccess(grants)
  return level === viewAccess && (source.kind === 'role' || source.kind === 'level')
}

/** The flags that a user can edit: all, or those they created and those that one of these roles has access to. */
export type EditableFlags = 'all' | 'none' | { readonly createdById: number; readonly roleIds: readonly string[] }

export function editableFlags(grants: FlagGrants): EditableFlags {
  const { level, source } = generalAccess(grants)
  if (source.kind === 'level') return 'none'
  return level === editAccess ? 'all' : { createdById: grants.userId, roleIds: grants.roles.map(({ id }) => id) }
}

export const canEditFlag = (grants: FlagGrants, flag: AccessTarget): boolean =>
  effectiveAccess(grants, flag).level === editAccess

/** Whether the user could still edit the flag if this role-access record did not exist. */
export const canEditWithout = (grants: FlagGrants, flag: AccessTarget, roleAccessId: number | undefined): boolean =>
  effectiveAccess(grants, flag, roleAccessId).level === editAccess
