import { forbidden } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Project } from '../../tenancy.ts'
import { canEditFlag, type FlagGrants } from './access.ts'

/** Admins may do everything: what their roles add to that is not looked up. */
export async function grantsFor(
  tx: Stores,
  { user, levels }: Actor,
  { organizationId }: Pick<Project, 'organizationId'>,
): Promise<FlagGrants> {
  const level = levels.get(organizationId)
  const isAdmin = (level ?? 0) >= adminLevel
  return { ...(isAdmin ? noRoles(user.id) : await tx.roleAccess.grantsOf(organizationId, user.id)), level }
}

const noRoles = (userId: number): Omit<FlagGrants, 'level'> => ({
  userId,
  organizationAccess: undefined,
  roles: [],
  grantedFlagIds: new Set(),
})

/** Raises `forbidden`. */
export async function requireCanEdit(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Parameters<typeof canEditFlag>[1],
): Promise<void> {
  if (!canEditFlag(await grantsFor(tx, actor, project), flag)) {
    throw forbidden('You may not edit this flag. Ask an admin, or give one of your roles access to it.')
  }
}
