import type { Instant } from '../../instant.ts'
import { missing } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { announceProject, auditedFields, recordProject } from './create-project.ts'
import type { ProjectPatch } from './project.ts'
import { refuseWhileProtected } from './refuse-while-protected.ts'

/** Raises `missing` when the project was deleted meanwhile, and `conflict` for other rules of evaluation while it is protected. */
export function changeProject(
  database: Database,
  actor: Actor,
  project: Project,
  patch: Omit<ProjectPatch, 'updatedAt'>,
  now: () => Instant,
): Promise<Project> {
  return database.transaction(async tx => {
    const stored = await tx.projects.find(project.id)
    const { propertyMatchingVersion = stored?.propertyMatchingVersion } = patch
    if (propertyMatchingVersion !== stored?.propertyMatchingVersion) await refuseWhileProtected(tx, project, now())
    await tx.projects.update(project.id, { ...patch, updatedAt: now() })
    // Read after the write: the row is locked now, and holds what others wrote before.
    const changed = await tx.projects.find(project.id)
    if (!changed) throw missing('Project')
    await announceProject(tx, changed, now())
    const fields = { before: auditedFields(stored ?? project), after: auditedFields(changed) }
    recordProject(tx, actor, changed, { activity: 'updated', ...fields }, now())
    return changed
  })
}
