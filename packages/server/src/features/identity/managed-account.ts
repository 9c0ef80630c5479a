import type { Instant } from '../../instant.ts'
import { invalid, type Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { ownerLevel } from '../../tenancy.ts'

/** What SCIM manages is not changed by hand, because the provider would not know of it. Each raises `invalid`. */

const managed = (field: string | null, message: string): Problem => invalid(field, 'managed_by_scim', message)

/** Ownership can be transferred all the same. */
export async function requireLevelByHand(
  tx: Stores,
  organizationId: string,
  userId: number,
  level: number,
  now: Instant,
): Promise<void> {
  if (level === ownerLevel) return
  const places = await tx.scimUsers.listManaged(userId, now)
  if (places.some(place => place.organizationId === organizationId && place.hasRoles)) {
    throw managed('level', 'SCIM manages the level of this member. Change it at your identity provider.')
  }
}

export async function requireMembershipByHand(
  tx: Stores,
  organizationId: string,
  userId: number,
  now: Instant,
): Promise<void> {
  const places = await tx.scimUsers.listManaged(userId, now)
  if (places.some(place => place.organizationId === organizationId)) {
    throw managed(null, 'SCIM manages who is a member here. Add or remove this person at your identity provider.')
  }
}

/** Name and email address. Owners can change their own: they are how an organization recovers from a wrong provider. */
export async function requireProfileByHand(tx: Stores, userId: number, field: string, now: Instant): Promise<void> {
  const places = await tx.scimUsers.listManaged(userId, now)
  if (places.some(({ level }) => level !== null && level !== ownerLevel)) {
    throw managed(field, `SCIM manages \`${field}\` of your account. Change it at your identity provider.`)
  }
}

export async function requireRoleByHand(tx: Stores, roleId: string, now: Instant): Promise<void> {
  if (await tx.scimGroups.isManaged(roleId, now)) {
    throw managed('name', 'SCIM manages this role. Rename or delete its group at your identity provider.')
  }
}

export async function requireRoleMemberByHand(
  tx: Stores,
  role: { readonly id: string; readonly organizationId: string },
  userId: number,
  now: Instant,
): Promise<void> {
  if (!(await tx.scimGroups.isManaged(role.id, now))) return
  const places = await tx.scimUsers.listManaged(userId, now)
  if (places.some(({ organizationId }) => organizationId === role.organizationId)) {
    throw managed(null, 'SCIM manages who is in this role. Change the group at your identity provider.')
  }
}
