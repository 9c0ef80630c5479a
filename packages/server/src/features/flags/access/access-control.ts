import type { AccessControl as AccessControlWire } from '@halyard/contract'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { type AccessLevel, editAccess, flagResource, type Role, viewAccess } from '../../access/access.ts'
import { recordAudit } from '../../audit/record-audit.ts'

/** PostHog's name of the resource whose access Halyard controls. */
const resource = 'feature_flag'
const levels = { viewer: viewAccess, editor: editAccess } as const

export const availableLevels = Object.keys(levels)

export const levelName = (level: AccessLevel): 'viewer' | 'editor' => (level === editAccess ? 'editor' : 'viewer')

interface SentControl {
  readonly access_level: string | null
  readonly role?: string | null
  readonly organization_member?: string | null
  readonly resource?: string
}

/** The level that was sent; undefined for null, which removes the grant. Raises `invalid` for what Halyard cannot express. */
export function readControl(sent: SentControl): AccessLevel | undefined {
  if (sent.resource !== undefined && sent.resource !== resource) {
    throw invalid(
      'resource',
      'invalid_choice',
      '`resource` must be feature_flag: Halyard controls access to flags only.',
    )
  }
  if (sent.organization_member) {
    throw invalid(
      'organization_member',
      'invalid_input',
      '`organization_member` is not supported; grant access to a role.',
    )
  }
  if (sent.access_level === null) return undefined
  if (!Object.hasOwn(levels, sent.access_level)) {
    throw invalid('access_level', 'invalid_choice', '`access_level` must be viewer, editor or null.')
  }
  return levels[sent.access_level as keyof typeof levels]
}

/** Raises `invalid` (`role`) when the organization has no such role. */
export async function roleOf(tx: Stores, { organizationId }: Project, id: string): Promise<Role> {
  const role = await tx.roles.find(organizationId, id.toLowerCase())
  if (!role) throw invalid('role', 'does_not_exist', '`role` is not a role of this organization.')
  return role
}

interface Control {
  readonly level: AccessLevel
  readonly flagId?: number
  readonly roleId?: string
  readonly createdAt?: Instant
  readonly updatedAt?: Instant
}

export const controlToWire = ({ level, flagId, roleId, createdAt, updatedAt }: Control): AccessControlWire => ({
  access_level: levelName(level),
  resource,
  resource_id: flagId === undefined ? null : String(flagId),
  role: roleId ?? null,
  organization_member: null,
  created_at: createdAt ?? null,
  updated_at: updatedAt ?? null,
})

/** What members without a role can do with flags. */
export async function defaultLevel(tx: Stores, { organizationId }: Project): Promise<AccessLevel> {
  const setting = await tx.resourceAccess.findFor(organizationId, flagResource)
  if (setting) return setting.accessLevel
  const organization = await tx.organizations.find(organizationId)
  return organization?.defaultAccessLevel === viewAccess ? viewAccess : editAccess
}

/** Sets the level of a role, or the organization-wide setting; undefined restores the default. */
export async function setResourceControl(
  tx: Stores,
  actor: Actor,
  project: Project,
  { level, roleId }: { readonly level: AccessLevel | undefined; readonly roleId: string | undefined },
  now: Instant,
): Promise<AccessControlWire | undefined> {
  if (roleId !== undefined) {
    const role = await roleOf(tx, project, roleId)
    const next = level ?? (await defaultLevel(tx, project))
    const change = { before: { level: role.accessLevel }, after: { level: next } }
    const record = { scope: 'Role', itemId: role.id, name: role.name, activity: 'updated', ...change } as const
    recordAudit(tx, actor, { organizationId: project.organizationId }, record, now)
    await tx.roles.update(role.id, { accessLevel: next })
    return level && controlToWire({ level, roleId: role.id, createdAt: role.createdAt })
  }
  const existing = await tx.resourceAccess.findFor(project.organizationId, flagResource)
  const change = { before: { access_level: existing?.accessLevel ?? null }, after: { access_level: level ?? null } }
  const record = {
    scope: 'AccessSetting',
    itemId: existing?.id ?? '',
    name: flagResource,
    activity: 'updated',
    ...change,
  } as const
  recordAudit(tx, actor, { organizationId: project.organizationId }, record, now)
  if (level === undefined) {
    if (existing) await tx.resourceAccess.remove(existing.id)
    return undefined
  }
  if (existing) {
    await tx.resourceAccess.update(existing.id, level, now)
    return controlToWire({ ...existing, level, updatedAt: now })
  }
  const { organizationId } = project
  const times = { createdAt: now, updatedAt: now }
  await tx.resourceAccess.create({
    organizationId,
    resource: flagResource,
    accessLevel: level,
    createdBy: actor.user,
    ...times,
  })
  return controlToWire({ level, ...times })
}
