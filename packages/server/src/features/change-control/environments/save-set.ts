import { environmentsMax } from '@halyard/contract'
import { authorOf } from '../../../domain/activity.ts'
import { isOver } from '../../../domain/freeze.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, missing, Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, levelInProject, type Organization } from '../../../tenancy.ts'
import { createProject } from '../../projects/create-project.ts'
import type { Environment, EnvironmentSet } from './environment.ts'

const setsPerOrganizationMax = 100

/** An environment as it is sent: without a project, one is created. */
export interface EnvironmentWrite {
  readonly project?: number | undefined
  readonly name: string
  readonly is_production?: boolean | undefined
}

const defaultEnvironments: readonly EnvironmentWrite[] = [
  { name: 'development' },
  { name: 'production', is_production: true },
]

export async function createSet(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  write: { readonly name: string; readonly environments?: readonly EnvironmentWrite[] | undefined },
  now: Instant,
): Promise<EnvironmentSet> {
  if ((await tx.environments.list(organization.id)).length >= setsPerOrganizationMax) {
    throw invalid(null, 'limit_reached', `An organization can have at most ${setsPerOrganizationMax} environment sets.`)
  }
  const { name } = write
  const environments = await readEnvironments(
    tx,
    actor,
    organization,
    name,
    write.environments ?? defaultEnvironments,
    now,
  )
  const set = await tx.environments.create({
    organizationId: organization.id,
    name,
    environments,
    createdBy: actor.user,
    createdAt: now,
    updatedAt: now,
    version: 1,
  })
  await record(tx, actor, set, 'created', now)
  return set
}

export async function updateSet(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  setId: number,
  write: { readonly name?: string | undefined; readonly environments?: readonly EnvironmentWrite[] | undefined },
  now: Instant,
): Promise<EnvironmentSet> {
  const stored = await getSet(tx, organization, setId)
  const name = write.name ?? stored.name
  const environments = write.environments
    ? await readEnvironments(tx, actor, organization, name, write.environments, now)
    : stored.environments
  const kept = new Set(environments.map(({ projectId }) => projectId))
  if (stored.environments.some(({ projectId }) => !kept.has(projectId))) await refuseWhileFrozen(tx, stored, now)
  const set = { ...stored, name, environments, updatedAt: now, version: stored.version + 1 }
  await tx.environments.save(set)
  await record(tx, actor, set, 'updated', now)
  return set
}

export async function removeSet(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  setId: number,
  now: Instant,
): Promise<void> {
  const set = await getSet(tx, organization, setId)
  await refuseWhileFrozen(tx, set, now)
  await tx.environments.remove(set.id)
  await record(tx, actor, set, 'deleted', now)
}

/** Raises `conflict`: the freezes of a set would end with it, or for a project that leaves it. */
async function refuseWhileFrozen(tx: Stores, { id, organizationId }: EnvironmentSet, now: Instant): Promise<void> {
  const freezes = (await tx.freezes.list(organizationId)).filter(
    freeze => freeze.environmentSetId === id && !isOver(freeze, now),
  )
  if (freezes.length === 0) return
  const reasons = freezes.map(({ reason }) => reason).join(', ')
  throw new Problem('conflict', `Freezes hold for the environment set: ${reasons}. End them first.`, { code: 'frozen' })
}

/** Raises `missing`. */
export async function getSet(tx: Stores, organization: Organization, setId: number): Promise<EnvironmentSet> {
  const set = await tx.environments.find(organization.id, setId)
  if (!set) throw missing('Environment set')
  return set
}

/** Raises `invalid` (`environments`). */
async function readEnvironments(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  setName: string,
  sent: readonly EnvironmentWrite[],
  now: Instant,
): Promise<readonly Environment[]> {
  if (sent.length === 0 || sent.length > environmentsMax) {
    throw invalid('environments', 'invalid_input', `A set has 1 to ${environmentsMax} environments.`)
  }
  if (new Set(sent.map(({ name }) => name)).size < sent.length) {
    throw invalid('environments', 'unique', 'Each environment needs a name of its own.')
  }
  const projects = sent.flatMap(({ project }) => project ?? [])
  if (new Set(projects).size < projects.length) {
    throw invalid('environments', 'unique', 'Each environment needs a project of its own.')
  }
  const environments: Environment[] = []
  for (const { project: id, name, is_production: isProduction = false } of sent) {
    const project =
      id === undefined
        ? await createProject(tx, actor, { organizationId: organization.id, name: `${setName} ${name}` }, now)
        : await tx.projects.find(id)
    if (project?.organizationId !== organization.id || levelInProject(actor, project) === undefined) {
      throw invalid('environments', 'does_not_exist', `There is no project ${id} in this organization.`)
    }
    environments.push({ projectId: project.id, name, isProduction })
  }
  return environments
}

const record = (tx: Stores, actor: Actor, set: EnvironmentSet, activity: string, now: Instant): Promise<void> =>
  tx.activity.append({
    organizationId: set.organizationId,
    projectId: null,
    scope: 'EnvironmentSet',
    itemId: String(set.id),
    activity,
    ...authorOf(actor),
    detail: { name: set.name, changes: [], trigger: { projects: set.environments.map(({ projectId }) => projectId) } },
    createdAt: now,
  })
