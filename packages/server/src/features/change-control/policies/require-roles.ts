import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'

/** Raises `invalid` for a role that is not of the organization. */
export async function requireRoles(
  tx: Stores,
  organizationId: string,
  ids: readonly string[],
  field: string,
): Promise<void> {
  const roles = await tx.roles.findAll(ids)
  const roleIds = new Set(roles.filter(role => role.organizationId === organizationId).map(({ id }) => id))
  const unknown = ids.find(id => !roleIds.has(id))
  if (unknown !== undefined) {
    throw invalid(field, 'does_not_exist', `The organization has no role ${unknown}.`)
  }
}
