import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

/** What is planned for a flag has changed, and the flag itself has not. */
export const announceSchedule = (
  tx: Stores,
  project: Pick<Project, 'id' | 'organizationId'>,
  flagId: number,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'schedule',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(flagId),
    at: now,
  })
