import type { Instant } from '../../instant.ts'
import { missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { announceAccess } from '../access/announce-access.ts'
import { createRole } from '../access/create-role.ts'
import { removeRole } from '../access/remove-role.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import type { ScimGroup, ScimGroupContent, ScimGroupMember } from './scim-group.ts'
import { scimInvalid, scimTaken } from './scim-problem.ts'

export interface ScimGroupWithMembers {
  readonly group: ScimGroup
  readonly members: readonly ScimGroupMember[]
}

/** A role of the same name that was made by hand is adopted, so that a provider can take over what exists. Raises `conflict`. */
export async function createScimGroup(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  content: ScimGroupContent,
  now: Instant,
): Promise<ScimGroupWithMembers> {
  await tx.organizations.lockMembers(organization.id)
  const role = await tx.scimGroups.findRole(organization.id, content.name)
  if (role?.isProvisioned) throw scimTaken('displayName', '`displayName` is taken by another group.')
  const { id } = role ?? (await createRole(tx, actor, organization, { name: content.name }, now))
  const adopted = (await tx.scimGroups.listMembers(organization.id, [id])).get(id) ?? []
  const members = new Set([...content.members, ...adopted.map(({ uuid }) => uuid)])
  await tx.scimGroups.save(id, content.externalId, now)
  const changes = await applyMembers(tx, organization, id, adopted, members, now)
  const after = { name: content.name, external_id: content.externalId, ...changes }
  return recorded(tx, actor, organization, id, { activity: 'provisioned', after }, now)
}

/** Raises `missing`, `invalid` and `conflict`. */
export async function updateScimGroup(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  groupId: string,
  read: (stored: ScimGroupContent) => ScimGroupContent,
  now: Instant,
): Promise<ScimGroupWithMembers> {
  await tx.organizations.lockMembers(organization.id)
  const { group, members } = await getScimGroup(tx, organization, groupId)
  const { name, externalId } = group
  const content = read({ name, externalId, members: new Set(members.map(({ uuid }) => uuid)) })
  const holder = await tx.scimGroups.findRole(organization.id, content.name)
  if (holder && holder.id !== group.id) throw scimTaken('displayName', '`displayName` is taken by another role.')
  if (content.name !== name) await tx.roles.update(group.id, { name: content.name })
  await tx.scimGroups.save(group.id, content.externalId, now)
  const changes = await applyMembers(tx, organization, group.id, members, content.members, now)
  const before = { name, external_id: externalId, members_added: [], members_removed: [] }
  const after = { name: content.name, external_id: content.externalId, ...changes }
  return recorded(tx, actor, organization, group.id, { activity: 'updated', before, after }, now)
}

/** Raises `conflict` while a policy or freeze names the role. */
export async function removeScimGroup(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  groupId: string,
  now: Instant,
): Promise<void> {
  const { group } = await getScimGroup(tx, organization, groupId)
  const role = await tx.roles.find(organization.id, group.id)
  if (!role) throw missing('Group')
  await removeRole(tx, role, now)
  const before = { name: group.name, external_id: group.externalId }
  record(tx, actor, organization, group, { activity: 'deleted', before }, now)
  await announceAccess(tx, { organizationId: organization.id }, organization.id, now)
}

/** Raises `missing`. */
export async function getScimGroup(
  tx: Stores,
  organization: Organization,
  groupId: string,
): Promise<ScimGroupWithMembers> {
  const group = await tx.scimGroups.find(organization.id, groupId)
  if (!group) throw missing('Group')
  const members = await tx.scimGroups.listMembers(organization.id, [group.id])
  return { group, members: members.get(group.id) ?? [] }
}

/** Members of the role who were not provisioned stay. Returns what changed, for the audit log. */
async function applyMembers(
  tx: Stores,
  organization: Organization,
  roleId: string,
  current: readonly ScimGroupMember[],
  wanted: ReadonlySet<string>,
  now: Instant,
) {
  const held = new Set(current.map(({ uuid }) => uuid))
  const missingIds = [...wanted].filter(uuid => !held.has(uuid))
  const added = await tx.scimUsers.findAll(organization.id, missingIds)
  if (added.length < missingIds.length) {
    throw scimInvalid('invalidValue', 'members', '`members` has an id that is not of a provisioned user.')
  }
  const removed = current.filter(({ uuid }) => !wanted.has(uuid))
  await tx.scimGroups.addMembers(roleId, added, now)
  const removedIds = removed.map(({ userId }) => userId)
  await tx.scimGroups.removeMembers(roleId, removedIds)
  return { members_added: listed(added), members_removed: listed(removed) }
}

const listedMax = 100
const listed = (users: readonly { readonly userName: string }[]): readonly string[] => [
  ...users.slice(0, listedMax).map(({ userName }) => userName),
  ...(users.length > listedMax ? [`and ${users.length - listedMax} more`] : []),
]

async function recorded(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  groupId: string,
  change: Change,
  now: Instant,
): Promise<ScimGroupWithMembers> {
  const saved = await getScimGroup(tx, organization, groupId)
  record(tx, actor, organization, saved.group, change, now)
  await announceAccess(tx, { organizationId: organization.id }, organization.id, now)
  return saved
}

type Change = Pick<AuditRecord, 'activity' | 'before' | 'after'>

const record = (
  tx: Stores,
  actor: Actor,
  { id: organizationId }: Organization,
  { id, name }: ScimGroup,
  change: Change,
  now: Instant,
): void => recordAudit(tx, actor, { organizationId }, { scope: 'Role', itemId: id, name, ...change }, now)
