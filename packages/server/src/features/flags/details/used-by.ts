import type { UsedBy } from '@halyard/contract'
import { usesOf } from '@halyard/engine'
import type { Flag } from '../../../domain/flag.ts'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, levelInProject, type Project } from '../../../tenancy.ts'

/** How many of each are named. */
const namedMax = 100

type Uses = ReturnType<typeof usesOf>

/** The flags and cohorts whose filters use something directly. */
function usersOf(served: ServedProject, isUsed: (uses: Uses) => boolean): Pick<UsedBy, 'flags' | 'cohorts'> {
  const flags = served.live.filter(({ filters }) => isUsed(usesOf(filters)))
  const cohorts = served.cohorts.filter(({ filters }) => isUsed(usesOf(filters)))
  return {
    flags: flags.slice(0, namedMax).map(({ id, key, active }) => ({ id, key, active })),
    cohorts: cohorts.slice(0, namedMax).map(({ id, name = '' }) => ({ id, name })),
  }
}

export const cohortUsedBy = (served: ServedProject, cohortId: number): UsedBy => ({
  ...usersOf(served, ({ cohorts }) => cohorts.includes(cohortId)),
  pending_schedules: 0,
  environments: [],
  last_called_at: null,
  code_references: 0,
  code_repositories: [],
})

export async function flagUsedBy(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
  served: ServedProject,
): Promise<UsedBy> {
  const pending = await tx.schedules.list(project.id, { flagId: flag.id, status: 'pending' }, { limit: 1, offset: 0 })
  const code = await tx.codeReferences.useOf(project.id, flag.key)
  return {
    ...usersOf(served, ({ flags }) => flags.includes(flag.id)),
    pending_schedules: pending.count,
    environments: await otherEnvironments(tx, actor, project, flag),
    last_called_at: (await tx.usage.lastUsed(project.id, 'called')).get(flag.key) ?? null,
    code_references: code.count,
    code_repositories: [...code.repositories],
  }
}

/** Only those that the caller can see. */
async function otherEnvironments(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
): Promise<UsedBy['environments']> {
  const setId = await tx.environments.setOf(project.id)
  const set = setId === null ? undefined : await tx.environments.find(project.organizationId, setId)
  const environments: UsedBy['environments'] = []
  for (const { projectId, name } of set?.environments ?? []) {
    const isVisible = levelInProject(actor, { id: projectId, organizationId: project.organizationId }) !== undefined
    if (projectId === project.id || !isVisible) continue
    const other = await tx.flags.findLiveByKey(projectId, flag.key)
    if (other) environments.push({ project_id: projectId, name, active: other.active })
  }
  return environments
}
