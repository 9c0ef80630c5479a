import type { Author } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import { forbidden, invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import {
  type Actor,
  adminLevel,
  isLevel,
  type Organization,
  ownerLevel,
  requireLevel,
  type User,
} from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { requireLevelByHand, requireMembershipByHand } from '../identity/managed-account.ts'
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
  await requireLevelByHand(tx, organization.id, member.user.id, level, now)
  if (level === ownerLevel) await requireOwnFactor(tx, member)
  await tx.organizations.setLevel(organization.id, member.user.id, level, now)
  recordMember(
    tx,
    actor,
    organization,
    member.user,
    { activity: 'updated', before: { level: member.level }, after: { level } },
    now,
  )
  if (level > member.level) await tx.accountTies.tie(member.user.id, actor.user.id, 'level', now)
  await announceIdentity(tx, member.user.id, now, organization.id)
  if (level === ownerLevel) {
    await tx.organizations.setLevel(organization.id, actor.user.id, adminLevel, now)
    const change = { activity: 'updated', before: { level: ownerLevel }, after: { level: adminLevel } }
    recordMember(tx, actor, organization, actor.user, change, now)
    await announceIdentity(tx, actor.user.id, now, organization.id)
  }
  return { ...member, level, updatedAt: now }
}

/** Where single sign-on is required, the owner is who can sign in without the provider, with password and second factor. */
async function requireOwnFactor(tx: Stores, { organizationId, hasSecondFactor }: Member): Promise<void> {
  if (hasSecondFactor || !(await tx.organizations.requiresSingleSignOn(organizationId))) return
  throw invalid(
    'level',
    'invalid_input',
    'While single sign-on is required, the owner needs a second factor. The member must add one first.',
  )
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
  await requireMembershipByHand(tx, organization.id, member.user.id, now)
  await tx.identityProviders.unlink({ organizationId: organization.id, userId: member.user.id })
  await endMembership(tx, actor, organization, member, now)
}

/** With the roles in the organization. Nodes drop the cached actors of the user. */
export async function endMembership(
  tx: Stores,
  author: Author,
  organization: Organization,
  { user, level }: Pick<Member, 'user' | 'level'>,
  now: Instant,
): Promise<void> {
  await tx.roles.removeFromAll(organization.id, user.id)
  await tx.organizations.removeMember(organization.id, user.id)
  recordMember(tx, author, organization, user, { activity: 'deleted', before: { level } }, now)
  await announceIdentity(tx, user.id, now, organization.id)
}

export const recordMember = (
  tx: Stores,
  author: Author,
  organization: Pick<Organization, 'id'>,
  { uuid, email }: Pick<User, 'uuid' | 'email'>,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void =>
  recordAudit(
    tx,
    author,
    { organizationId: organization.id },
    { scope: 'Member', itemId: uuid, name: email, ...record },
    now,
  )

/** Serializes changes of levels, and reads the actor's own again: another transaction may have just taken it. */
async function withCurrentLevel(tx: Stores, actor: Actor, organization: Organization): Promise<Actor> {
  await tx.organizations.lockMembers(organization.id)
  const member = await tx.organizations.findMember(organization.id, actor.user.uuid)
  if (!member) throw missing('Organization')
  return { ...actor, levels: new Map([...actor.levels, [organization.id, member.level]]) }
}

/** A person: accounts of keys and tokens have their level from these, and end with them. */
async function getMember(tx: Stores, organization: Organization, userUuid: string): Promise<Member> {
  const member = await tx.organizations.findPerson(organization.id, userUuid)
  if (!member) throw missing('Member')
  return member
}
