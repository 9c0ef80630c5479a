import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'

/** Announces a change to the schedule of a flag. The flag itself is unchanged. */
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
