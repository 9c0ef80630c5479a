import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { newSecret, newUuid } from '../identity/secret.ts'

export interface NewProject {
  readonly organizationId: string
  readonly name: string
  readonly timezone?: string
  readonly propertyMatchingVersion?: 1 | 2
}

export async function createProject(tx: Stores, input: NewProject, now: Instant): Promise<Project> {
  const project = await tx.projects.create({
    uuid: newUuid(),
    organizationId: input.organizationId,
    name: input.name,
    apiToken: newSecret('phc_'),
    timezone: input.timezone ?? 'UTC',
    propertyMatchingVersion: input.propertyMatchingVersion ?? 2,
    createdAt: now,
    updatedAt: now,
  })
  await announceProject(tx, project, now)
  return project
}

export const announceProject = (
  tx: Stores,
  project: Pick<Project, 'id' | 'organizationId'>,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'project',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(project.id),
    at: now,
  })
