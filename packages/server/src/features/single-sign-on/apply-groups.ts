import type { Author } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { ownerLevel } from '../../tenancy.ts'
import { announceAccess } from '../access/announce-access.ts'
import { recordAudit } from '../audit/record-audit.ts'
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
  author: NonNullable<Author>,
  groups: readonly string[],
  now: Instant,
): Promise<void> {
  const { organizationId } = provider
  const { user } = author
  await tx.organizations.lockMembers(organizationId)
  const member = await tx.organizations.findMember(organizationId, user.uuid)
  if (!member) return
  const rights = rightsOf(provider, groups)
  const level = member.level === ownerLevel ? member.level : rights.level
  if (level !== member.level) await tx.organizations.setLevel(organizationId, user.id, level, now)
  const mapped = new Set(provider.groupMappings.flatMap(({ roleId }) => (roleId === null ? [] : [roleId])))
  const existing = await tx.roles.findAll([...mapped])
  const held = await tx.roles.listMemberships(organizationId, user.id)
  const lost = held.filter(({ roleId }) => mapped.has(roleId) && !rights.roleIds.has(roleId))
  for (const { id, roleId } of lost) await tx.roles.removeMember(roleId, id)
  const gained = existing.filter(({ id }) => rights.roleIds.has(id) && !held.some(({ roleId }) => roleId === id))
  for (const { id: roleId } of gained) {
    await tx.roles.addMember({ id: newUuid(), roleId, userId: user.id, joinedAt: now, updatedAt: now })
  }
  if (level === member.level && lost.length === 0 && gained.length === 0) return
  const kept = held.filter(each => !lost.includes(each)).map(({ roleId }) => roleId)
  const change = {
    before: { level: member.level, roles: held.map(({ roleId }) => roleId) },
    after: { level, roles: [...kept, ...gained.map(({ id }) => id)] },
  }
  await announceIdentity(tx, user.id, now, organizationId)
  await announceAccess(tx, { organizationId }, user.uuid, now)
  const record = { scope: 'Member', itemId: user.uuid, name: user.email, activity: 'groups_applied' } as const
  const reason = `Groups of ${provider.name}: ${groups.slice(0, 50).join(', ')}`.slice(0, 500)
  recordAudit(tx, author, { organizationId }, { ...record, ...change, reason }, now)
}
