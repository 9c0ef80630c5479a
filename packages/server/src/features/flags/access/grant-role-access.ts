import type { Flag } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import type { RoleAccess } from '../../access/access.ts'
import { announceAccess } from '../../access/announce-access.ts'
import { appendFlagActivity } from '../record-flag.ts'

const uuidPattern = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** Raises `invalid` (`role_id`) when the organization has no such role, or the role already has access. */
export async function grantRoleAccess(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
  roleId: string,
  now: Instant,
): Promise<RoleAccess> {
  if (!uuidPattern.test(roleId)) throw invalid('role_id', 'invalid_input', '`role_id` must be a UUID.')
  const role = await tx.roles.find(project.organizationId, roleId.toLowerCase())
  if (!role) throw invalid('role_id', 'does_not_exist', '`role_id` is not a role of this organization.')
  const access = await tx.roleAccess.create({ flagId: flag.id, roleId: role.id, addedAt: now, updatedAt: now })
  const change = { action: 'created', field: 'role_access', before: null, after: role.name } as const
  await appendFlagActivity(tx, actor, project, flag, { activity: 'role_access_granted', changes: [change] }, now)
  await announceAccess(tx, { ...project, projectId: project.id }, String(flag.id), now)
  return access
}

export async function revokeRoleAccess(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
  access: RoleAccess,
  now: Instant,
): Promise<void> {
  const role = await tx.roles.find(project.organizationId, access.roleId)
  await tx.roleAccess.remove(access.id)
  const change = { action: 'deleted', field: 'role_access', before: role?.name ?? access.roleId, after: null } as const
  await appendFlagActivity(tx, actor, project, flag, { activity: 'role_access_revoked', changes: [change] }, now)
  await announceAccess(tx, { ...project, projectId: project.id }, String(flag.id), now)
}
