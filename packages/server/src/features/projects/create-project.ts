import type { Author } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { newSecret, newUuid } from '../identity/secret.ts'

export interface NewProject {
  readonly organizationId: string
  readonly name: string
  readonly timezone?: string
  readonly propertyMatchingVersion?: 1 | 2
}

export async function createProject(tx: Stores, author: Author, input: NewProject, now: Instant): Promise<Project> {
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
  recordProject(tx, author, project, { activity: 'created', after: auditedFields(project) }, now)
  return project
}

/** Tokens are left out: they are credentials of applications. */
export const auditedFields = ({ name, timezone, propertyMatchingVersion, previousToken }: Project) => ({
  name,
  timezone,
  property_matching_version: propertyMatchingVersion,
  has_previous_token: Boolean(previousToken),
})

export const placeOf = ({ id, organizationId }: Pick<Project, 'id' | 'organizationId'>) => ({
  organizationId,
  projectId: id,
})

export const recordProject = (
  tx: Stores,
  author: Author,
  project: Project,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void =>
  recordAudit(
    tx,
    author,
    placeOf(project),
    { scope: 'Project', itemId: project.id, name: project.name, ...record },
    now,
  )

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
