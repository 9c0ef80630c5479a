import type { Instant } from '../../instant.ts'
import { adminLevel, type Level, type User } from '../../tenancy.ts'

/** Role-based access to flags. Numbers are PostHog's. */
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
  /** E-mails of active members, sorted. */
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

/** All that decides what one person may do with the flags of one organization. */
export interface FlagGrants {
  readonly userId: number
  readonly level: Level | undefined
  /** The organization-wide setting for flags; undefined when nobody has set it. */
  readonly organizationAccess: AccessLevel | undefined
  readonly roles: readonly { readonly id: string; readonly accessLevel: AccessLevel }[]
  /** Flags that name one of the person's roles in their role access. */
  readonly grantedFlagIds: ReadonlySet<number>
}

/** The first rule that speaks decides. */
export function canEditFlag(grants: FlagGrants, flag: { readonly id: number; readonly createdBy: User }): boolean {
  if (flag.createdBy.id === grants.userId) return true
  if ((grants.level ?? 0) >= adminLevel) return true
  if (grants.organizationAccess === editAccess) return true
  const highestRole = Math.max(0, ...grants.roles.map(role => role.accessLevel))
  const effective = highestRole || (grants.organizationAccess ?? editAccess)
  return effective === editAccess || grants.grantedFlagIds.has(flag.id)
}

/** Who may say which roles edit a flag: a slightly wider circle than those who may edit it. */
export function canEditRoleAccess(grants: FlagGrants, flag: { readonly createdBy: User }): boolean {
  return (
    (grants.level ?? 0) >= adminLevel ||
    (grants.organizationAccess ?? editAccess) === editAccess ||
    flag.createdBy.id === grants.userId ||
    grants.roles.some(role => role.accessLevel === editAccess)
  )
}
