import { forbidden } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Project } from '../../tenancy.ts'
import { type AccessTarget, canEditFlag, canEditWithout, editAccess, type FlagGrants, isViewer } from './access.ts'

/** Admins can edit every flag, so their roles are not looked up. */
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
  defaultAccess: editAccess,
  roles: [],
  grantedFlags: new Map(),
})

/** Raises `forbidden`. */
export async function requireCanEdit(tx: Stores, actor: Actor, project: Project, flag: AccessTarget): Promise<void> {
  if (!canEditFlag(await grantsFor(tx, actor, project), flag)) {
    throw forbidden('You cannot edit this flag. Ask an admin or its creator to grant one of your roles access.')
  }
}

/** Raises `forbidden` for viewers: for writes that are not about one existing flag. */
export async function requireNoViewer(
  tx: Stores,
  actor: Actor,
  project: Pick<Project, 'organizationId'>,
): Promise<void> {
  if (isViewer(await grantsFor(tx, actor, project))) {
    throw forbidden('Your role can view, but not change anything. Ask an admin for a role that can edit.')
  }
}

/** Raises `forbidden` unless the user can edit the flag without the role-access record in question. */
export async function requireCanGrant(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: AccessTarget,
  roleAccessId?: number,
): Promise<void> {
  if (!canEditWithout(await grantsFor(tx, actor, project), flag, roleAccessId)) {
    throw forbidden('You cannot change which roles can edit this flag. Ask an admin or its creator.')
  }
}
