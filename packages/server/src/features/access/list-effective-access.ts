import type { PageOf, Window } from '../../pagination.ts'
import { forbidden } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, hasAnyScope, levelIn, type Project, type User } from '../../tenancy.ts'
import {
  type AccessTarget,
  type EffectiveAccess,
  editAccess,
  effectiveAccess,
  type FlagGrants,
  generalAccess,
  type Role,
} from './access.ts'

/** What a member can do with a flag, and the role that decides, if one does. */
export interface MemberAccess {
  readonly user: User
  readonly access: EffectiveAccess
  readonly role: Role | undefined
}

export interface MemberFlagAccess extends MemberAccess {
  /** The flags that roles let the member edit, when the member cannot edit all. */
  readonly editableFlags: readonly string[]
}

/** Raises `forbidden` unless the key may read both the flag and the members of its organization. */
export function requireCanListAccess(actor: Actor, { organizationId }: Project): void {
  if (!hasAnyScope(actor.key, ['feature_flag:read'])) throw forbidden('This key lacks the scope feature_flag:read.')
  if (levelIn(actor, organizationId) === undefined) {
    throw forbidden('This key is limited to some projects and cannot list the members of the organization.')
  }
}

/** A page of the organization's members, each with the access that requests of theirs have. */
export async function listEffectiveAccess(
  tx: Stores,
  { organizationId }: Project,
  flag: AccessTarget,
  window: Window,
): Promise<PageOf<MemberAccess>> {
  const { count, items: members } = await listGrants(tx, organizationId, window, [flag.id])
  const decided = members.map(({ grants }) => effectiveAccess(grants, flag))
  const roles = await decidingRoles(tx, flag, decided)
  return { count, items: members.map(({ user }, index) => ({ user, access: decided[index]!, role: roles[index] })) }
}

/** A page of the organization's members, each with the access to flags that others created. */
export async function listFlagAccess(
  tx: Stores,
  organizationId: string,
  window: Window,
): Promise<PageOf<MemberFlagAccess>> {
  const { count, items: members } = await listGrants(tx, organizationId, window, [])
  const roleIds = new Set(members.flatMap(({ grants }) => grants.roles.map(({ id }) => id)))
  const roleOf = new Map((await tx.roles.findAll([...roleIds])).map(role => [role.id, role]))
  const items = members.map(({ user, grants }) => {
    const access = generalAccess(grants)
    const role = access.source.kind === 'role' ? roleOf.get(access.source.roleId) : undefined
    const keys = access.level === editAccess ? [] : grants.roles.flatMap(({ id }) => roleOf.get(id)?.flagKeys ?? [])
    return { user, access, role, editableFlags: [...new Set(keys)].sort() }
  })
  return { count, items }
}

/** A page of the organization's members with what decides about their access; of single flags, only these count. */
async function listGrants(
  tx: Stores,
  organizationId: string,
  window: Window,
  flagIds: readonly number[],
): Promise<PageOf<{ readonly user: User; readonly grants: FlagGrants }>> {
  const { count, items: members } = await tx.organizations.listMembers(organizationId, window)
  if (members.length === 0) return { count, items: [] }
  const userIds = members.map(({ user }) => user.id)
  const grants = await tx.roleAccess.grantsOfAll(organizationId, userIds, flagIds)
  return { count, items: members.map(({ user, level }, index) => ({ user, grants: { ...grants[index]!, level } })) }
}

async function decidingRoles(
  tx: Stores,
  flag: AccessTarget,
  decided: readonly EffectiveAccess[],
): Promise<readonly (Role | undefined)[]> {
  const granted = new Map<number, string>()
  for (const { source } of decided) {
    if (source.kind !== 'role_access' || granted.has(source.roleAccessId)) continue
    const access = await tx.roleAccess.find(flag.id, source.roleAccessId)
    if (access) granted.set(access.id, access.roleId)
  }
  const roleIds = decided.map(({ source }) => {
    if (source.kind === 'role') return source.roleId
    return source.kind === 'role_access' ? granted.get(source.roleAccessId) : undefined
  })
  const roles = await tx.roles.findAll([...new Set(roleIds.filter(id => id !== undefined))])
  return roleIds.map(id => roles.find(role => role.id === id))
}
