import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Author, authorOf, type FieldChange } from '../activity/activity.ts'
import type { Cohort } from './cohort.ts'

export interface CohortRecord {
  readonly activity: string
  readonly changes: readonly FieldChange[]
  readonly trigger?: Readonly<Record<string, unknown>> | null
}

/** Writes the activity entry and the change-log row of a cohort change in the same transaction. */
export async function recordCohort(
  tx: Stores,
  author: Author,
  project: Pick<Project, 'id' | 'organizationId'>,
  cohort: Pick<Cohort, 'id' | 'name'>,
  { activity, changes, trigger = null }: CohortRecord,
  now: Instant,
): Promise<void> {
  await tx.activity.append({
    organizationId: project.organizationId,
    projectId: project.id,
    scope: 'Cohort',
    itemId: String(cohort.id),
    activity,
    ...authorOf(author),
    detail: { name: cohort.name, changes, trigger },
    createdAt: now,
  })
  await tx.changes.append({
    topic: 'cohort',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(cohort.id),
    at: now,
  })
}
