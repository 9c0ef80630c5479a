import { freezeInForce, isOver } from '../../domain/freeze.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

/**
 * Raises `conflict` for a project whose flags need approval or are frozen: deleting it, or evaluating by other rules, would change them
 * all. An admin has to remove the protection first, which is recorded.
 */
export async function refuseWhileProtected(tx: Stores, project: Project, now: Instant): Promise<void> {
  const policies = await tx.policies.listEnabled(project.id)
  if (policies.length > 0) {
    const named = policies.map(({ id, actionKey }) => `${id} (${actionKey})`).join(', ')
    throw new Problem('conflict', `Approval policies protect the project: ${named}. Delete or disable them first.`, {
      code: 'project_protected',
    })
  }
  const freezes = await tx.freezes.list(project.organizationId)
  if (freezes.length === 0) return
  const own = freezes.find(freeze => freeze.projectId === project.id && !isOver(freeze, now))
  if (own) {
    throw new Problem('conflict', `The freeze "${own.reason}" protects the project. End it first.`, {
      code: 'project_protected',
    })
  }
  const environmentSetId = await tx.environments.setOf(project.id)
  const tags = [...(await tx.flags.facets(project.id, 'all')).tags.keys()]
  const frozen = freezeInForce(freezes, { projectId: project.id, environmentSetId, tags }, now)
  if (frozen) throw frozen
}
