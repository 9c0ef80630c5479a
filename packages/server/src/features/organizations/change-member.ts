import type { Instant } from '../../instant.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, isLevel, type Organization, ownerLevel, requireLevel } from '../../tenancy.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import type { Member } from './organization-store.ts'

/** Nobody changes their own level, somebody above them, or grants more than they have. A new owner takes the place of the old. */
export async function changeLevel(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  level: number,
  now: Instant,
): Promise<Member> {
  requireLevel(actor, organization.id, adminLevel, 'change what members may do')
  const member = await getMember(tx, organization, userUuid)
  if (!isLevel(level)) throw invalid('level', 'invalid_choice', 'Use 1 (member), 8 (admin) or 15 (owner).')
  if (member.user.id === actor.user.id) throw forbidden('You cannot change your own level.')
  const own = actor.levels.get(organization.id) ?? 0
  if (member.level > own) throw forbidden('You cannot change somebody above you.')
  if (level > own) throw forbidden('You cannot grant more than you have.')
  await tx.organizations.setLevel(organization.id, member.user.id, level, now)
  if (level === ownerLevel) await tx.organizations.setLevel(organization.id, actor.user.id, adminLevel, now)
  await announceIdentity(tx, member.user.id, now, organization.id)
  return { ...member, level, updatedAt: now }
}

/** Admins remove others; everybody but the owner may leave. The person's roles in the organization end with it. */
export async function removeMember(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  now: Instant,
): Promise<void> {
  const member = await getMember(tx, organization, userUuid)
  if (member.level === ownerLevel) {
    throw invalid(null, 'invalid_input', 'The owner cannot leave: make somebody else the owner first.')
  }
  if (member.user.id !== actor.user.id) {
    requireLevel(actor, organization.id, adminLevel, 'remove members')
    if (member.level > (actor.levels.get(organization.id) ?? 0))
      throw forbidden('You cannot remove somebody above you.')
  }
  await tx.roles.removeFromAll(organization.id, member.user.id)
  await tx.organizations.removeMember(organization.id, member.user.id)
  await announceIdentity(tx, member.user.id, now, organization.id)
}

async function getMember(tx: Stores, organization: Organization, userUuid: string): Promise<Member> {
  const member = await tx.organizations.findMember(organization.id, userUuid)
  if (!member) throw missing('Member')
  return member
}
