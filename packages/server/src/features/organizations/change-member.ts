import type { Instant } from '../../instant.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, isLevel, type Organization, ownerLevel, requireLevel } from '../../tenancy.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import type { Member } from './organization.ts'

/** No one changes their own level or one above it, or grants more than they have. A new owner replaces the old one. */
export async function changeLevel(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  level: number,
  now: Instant,
): Promise<Member> {
  const current = await withCurrentLevel(tx, actor, organization)
  requireLevel(current, organization.id, adminLevel, 'change the level of members')
  const member = await getMember(tx, organization, userUuid)
  if (!isLevel(level)) {
    throw invalid(
      'level',
      'invalid_choice',
      '`level` must be -1 (auditor), 0 (view only), 1 (member), 8 (admin) or 15 (owner).',
    )
  }
  if (member.user.id === actor.user.id) throw forbidden('You cannot change your own level.')
  const own = current.levels.get(organization.id) ?? 0
  if (member.level > own) throw forbidden('You cannot change the level of a member above you.')
  if (level > own) throw forbidden('You cannot grant a level above your own.')
  await tx.organizations.setLevel(organization.id, member.user.id, level, now)
  await announceIdentity(tx, member.user.id, now, organization.id)
  if (level === ownerLevel) {
    await tx.organizations.setLevel(organization.id, actor.user.id, adminLevel, now)
    await announceIdentity(tx, actor.user.id, now, organization.id)
  }
  return { ...member, level, updatedAt: now }
}

/** Admins remove others; everyone but the owner can leave. The user's roles in the organization end with it. */
export async function removeMember(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  now: Instant,
): Promise<void> {
  const current = await withCurrentLevel(tx, actor, organization)
  const member = await getMember(tx, organization, userUuid)
  if (member.level === ownerLevel) {
    throw invalid(null, 'invalid_input', 'The owner cannot leave. Transfer ownership to another member first.')
  }
  if (member.user.id !== actor.user.id) {
    requireLevel(current, organization.id, adminLevel, 'remove members')
    if (member.level > (current.levels.get(organization.id) ?? 0)) {
      throw forbidden('You cannot remove a member above you.')
    }
  }
  await tx.roles.removeFromAll(organization.id, member.user.id)
  await tx.identityProviders.unlink({ organizationId: organization.id, userId: member.user.id })
  await tx.organizations.removeMember(organization.id, member.user.id)
  await announceIdentity(tx, member.user.id, now, organization.id)
}

/** Serializes changes of levels, and reads the actor's own again: another transaction may have just taken it. */
async function withCurrentLevel(tx: Stores, actor: Actor, organization: Organization): Promise<Actor> {
  await tx.organizations.lockMembers(organization.id)
  const member = await tx.organizations.findMember(organization.id, actor.user.uuid)
  if (!member) throw missing('Organization')
  return { ...actor, levels: new Map([...actor.levels, [organization.id, member.level]]) }
}

async function getMember(tx: Stores, organization: Organization, userUuid: string): Promise<Member> {
  const member = await tx.organizations.findMember(organization.id, userUuid)
  if (!member) throw missing('Member')
  return member
}
