import type { FieldChange } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { ownerLevel, type User } from '../../tenancy.ts'
import { announceAccess } from '../access/announce-access.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { newUuid } from '../identity/secret.ts'
import { type IdentityProvider, rightsOf } from './identity-provider.ts'

/**
 * Gives the member the level and the roles of their groups, and takes the mapped roles of other groups. Roles that no mapping names, and
 * the owner, stay as they are.
 */
export async function applyGroups(
  tx: Stores,
  provider: IdentityProvider,
  user: User,
  groups: readonly string[],
  now: Instant,
): Promise<void> {
  const { organizationId } = provider
  await tx.organizations.lockMembers(organizationId)
  const member = await tx.organizations.findMember(organizationId, user.uuid)
  if (!member) return
  const rights = rightsOf(provider, groups)
  const changes: FieldChange[] = []
  if (member.level !== ownerLevel && member.level !== rights.level) {
    await tx.organizations.setLevel(organizationId, user.id, rights.level, now)
    changes.push({ action: 'changed', field: 'level', before: member.level, after: rights.level })
  }
  const mapped = new Set(provider.groupMappings.flatMap(({ roleId }) => (roleId === null ? [] : [roleId])))
  const existing = new Set((await tx.roles.findAll([...mapped])).map(role => role.id))
  const held = await tx.roles.listMemberships(organizationId, user.id)
  for (const { id, roleId } of held) {
    if (!mapped.has(roleId) || rights.roleIds.has(roleId)) continue
    await tx.roles.removeMember(roleId, id)
    changes.push({ action: 'deleted', field: 'role', before: roleId, after: null })
  }
  for (const roleId of rights.roleIds) {
    if (!existing.has(roleId) || held.some(each => each.roleId === roleId)) continue
    await tx.roles.addMember({ id: newUuid(), roleId, userId: user.id, joinedAt: now, updatedAt: now })
    changes.push({ action: 'created', field: 'role', before: null, after: roleId })
  }
  if (changes.length === 0) return
  await announceIdentity(tx, user.id, now, organizationId)
  await announceAccess(tx, { organizationId }, user.uuid, now)
  await tx.activity.append({
    organizationId,
    projectId: null,
    scope: 'IdentityProvider',
    itemId: provider.id,
    activity: 'groups_applied',
    user,
    keyLabel: null,
    detail: { name: provider.name, changes, trigger: { groups: groups.slice(0, 50) } },
    createdAt: now,
  })
}
