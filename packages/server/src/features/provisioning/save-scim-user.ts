import type { Instant } from '../../instant.ts'
import { missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, memberLevel, type Organization, ownerLevel } from '../../tenancy.ts'
import { announceAccess } from '../access/announce-access.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { newUuid } from '../identity/secret.ts'
import { endMembership, recordMember } from '../organizations/change-member.ts'
import { applyContent, linkScimAccount } from './link-scim-account.ts'
import { scimInvalid, scimTaken } from './scim-problem.ts'
import type { ScimUser, ScimUserContent } from './scim-user.ts'

/** Raises `conflict` for a name that is taken and for accounts of others. */
export async function createScimUser(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  content: ScimUserContent,
  now: Instant,
): Promise<ScimUser> {
  await tx.organizations.lockMembers(organization.id)
  await requireFreeName(tx, organization, content.userName, undefined)
  const account = await linkScimAccount(tx, organization, content, now)
  if (await tx.scimUsers.find(organization.id, account.uuid)) {
    throw scimTaken('emails', 'A provisioned user has this email address already.')
  }
  return apply(tx, actor, organization, account.uuid, account.id, content, now)
}

/** Raises `missing`, `invalid` for what SCIM must not change, and `conflict` for a name that is taken. */
export async function updateScimUser(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  read: (stored: ScimUser) => ScimUserContent,
  now: Instant,
): Promise<ScimUser> {
  await tx.organizations.lockMembers(organization.id)
  const stored = await getScimUser(tx, organization, userUuid)
  const content = read(stored)
  await requireFreeName(tx, organization, content.userName, userUuid)
  return apply(tx, actor, organization, userUuid, stored.user.id, content, now)
}

/** The membership ends as when the user is deactivated. */
export async function removeScimUser(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  now: Instant,
): Promise<void> {
  await tx.organizations.lockMembers(organization.id)
  const stored = await getScimUser(tx, organization, userUuid)
  if (stored.level !== null) await deactivate(tx, actor, organization, stored, now)
  await tx.identityProviders.unlink({ organizationId: organization.id, userId: stored.user.id })
  await tx.scimUsers.remove(organization.id, stored.user.id, now)
  recordMember(tx, actor, organization, stored.user, { activity: 'deprovisioned', before: audited(stored) }, now)
}

/** Raises `missing`. */
export async function getScimUser(tx: Stores, organization: Organization, userUuid: string): Promise<ScimUser> {
  const user = await tx.scimUsers.find(organization.id, userUuid)
  if (!user) throw missing('User')
  return user
}

async function requireFreeName(
  tx: Stores,
  { id }: Organization,
  userName: string,
  userUuid: string | undefined,
): Promise<void> {
  const holder = await tx.scimUsers.findByName(id, userName)
  if (holder && holder.user.uuid !== userUuid) throw scimTaken('userName', '`userName` is taken by another user.')
}

async function apply(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  userUuid: string,
  userId: number,
  content: ScimUserContent,
  now: Instant,
): Promise<ScimUser> {
  const organizationId = organization.id
  const before = await tx.scimUsers.find(organizationId, userUuid)
  const { userName, externalId, attributes } = content
  await tx.scimUsers.save({ organizationId, userId, userName, externalId, attributes }, now)
  const saved = await getScimUser(tx, organization, userUuid)
  await applyContent(tx, actor.user.id, organization, saved, content, now)
  if (saved.level === null && content.isActive) await activate(tx, actor, organization, saved, content, now)
  else if (saved.level !== null && !content.isActive) await deactivate(tx, actor, organization, saved, now)
  else await applyLevel(tx, actor, organization, saved, content, now)
  const after = await getScimUser(tx, organization, userUuid)
  const change = before
    ? { activity: 'updated', before: audited(before), after: audited(after) }
    : { activity: 'provisioned', after: audited(after) }
  recordMember(tx, actor, organization, after.user, change, now)
  await announceIdentity(tx, userId, now, organizationId)
  return after
}

async function activate(
  tx: Stores,
  actor: Actor,
  { id: organizationId }: Organization,
  { user, levelBefore }: ScimUser,
  content: ScimUserContent,
  now: Instant,
): Promise<void> {
  const level = content.level ?? levelBefore ?? memberLevel
  const membership = { id: newUuid(), organizationId, userId: user.id, level, joinedAt: now, updatedAt: now }
  await tx.organizations.addMember(membership)
  await tx.scimUsers.setLevelBefore(organizationId, user.id, null)
  await tx.scimGroups.restoreRoles(organizationId, user.id, now)
  await tx.accountTies.tie(user.id, actor.user.id, 'provisioned', now)
  await announceAccess(tx, { organizationId }, user.uuid, now)
}

/** Keys that reach other organizations as well stay, and no longer reach this one. Raises `invalid` for the owner. */
async function deactivate(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { user, level }: ScimUser,
  now: Instant,
): Promise<void> {
  if (level === null) return
  if (level === ownerLevel) {
    throw scimInvalid(
      'mutability',
      'active',
      'The owner cannot be deactivated. Transfer ownership to another member first.',
    )
  }
  await tx.scimGroups.suspendRoles(organization.id, user.id)
  await tx.scimUsers.setLevelBefore(organization.id, user.id, level)
  await endMembership(tx, actor, organization, { user, level }, now)
  await tx.organizations.removeInvitesFor(organization.id, user.email)
  if ((await tx.identity.listOrganizationIds(user.id)).length === 0) await tx.identity.removeKeys(user.id, 'all')
  else await tx.identity.removeKeysWithin(user.id, organization.id)
}

/** The owner stays as they are. */
async function applyLevel(
  tx: Stores,
  actor: Actor,
  { id }: Organization,
  { user, level }: ScimUser,
  content: ScimUserContent,
  now: Instant,
): Promise<void> {
  if (content.level === null || level === content.level || level === ownerLevel) return
  if (level === null) return tx.scimUsers.setLevelBefore(id, user.id, content.level)
  await tx.organizations.setLevel(id, user.id, content.level, now)
  if (content.level > level) await tx.accountTies.tie(user.id, actor.user.id, 'level', now)
}

const audited = ({ userName, externalId, user, level }: ScimUser) => ({
  user_name: userName,
  external_id: externalId,
  email: user.email,
  first_name: user.firstName,
  active: level !== null,
  level,
})
