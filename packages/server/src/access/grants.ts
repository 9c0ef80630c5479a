import { forbidden } from '../problem.ts'
import type { Stores } from '../stores.ts'
import type { Actor, Project } from '../tenancy.ts'
import { canEditFlag, type FlagGrants } from './access.ts'

export const grantsFor = async (
  tx: Stores,
  actor: Actor,
  project: Pick<Project, 'organizationId'>,
): Promise<FlagGrants> => ({
  ...(await tx.roleAccess.grantsOf(project.organizationId, actor.user.id)),
  level: actor.levels.get(project.organizationId),
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
