import type { Instant } from '../../instant.ts'
import { adminLevel, type Level, type User } from '../../tenancy.ts'

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

/** The first rule that applies decides. */
export function canEditFlag(grants: FlagGrants, flag: AccessTarget): boolean {
  return canEditWithout(grants, flag, undefined)
}

/** Whether the user could still edit the flag if this role-access record did not exist. */
export function canEditWithout(grants: FlagGrants, flag: AccessTarget, roleAccessId: number | undefined): boolean {
  if (flag.createdBy.id === grants.userId) return true
  if ((grants.level ?? 0) >= adminLevel) return true
  if (grants.organizationAccess === editAccess) return true
  const highestRole = Math.max(0, ...grants.roles.map(role => role.accessLevel))
  const effective = highestRole || (grants.organizationAccess ?? grants.defaultAccess)
  if (effective === editAccess) return true
  return (grants.grantedFlags.get(flag.id) ?? []).some(id => id !== roleAccessId)
}
