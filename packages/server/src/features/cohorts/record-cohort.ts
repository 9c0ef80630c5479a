import { type Author, authorOf, type FieldChange, type NewActivity } from '../../domain/activity.ts'
import type { Cohort } from '../../domain/cohort.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

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
  record: CohortRecord,
  now: Instant,
): Promise<void> {
  await tx.activity.append(cohortActivity(author, project, cohort, record, now))
  await announceCohort(tx, project, cohort.id, now)
}

/** The same for many cohorts. */
export async function recordCohorts(
  tx: Stores,
  author: Author,
  project: Pick<Project, 'id' | 'organizationId'>,
  cohorts: readonly Pick<Cohort, 'id' | 'name'>[],
  record: CohortRecord,
  now: Instant,
): Promise<void> {
  await tx.activity.appendAll(cohorts.map(cohort => cohortActivity(author, project, cohort, record, now)))
  for (const { id } of cohorts) await announceCohort(tx, project, id, now)
}

const cohortActivity = (
  author: Author,
  project: Pick<Project, 'id' | 'organizationId'>,
  cohort: Pick<Cohort, 'id' | 'name'>,
  { activity, changes, trigger = null }: CohortRecord,
  now: Instant,
): NewActivity => ({
  organizationId: project.organizationId,
  projectId: project.id,
  scope: 'Cohort',
  itemId: String(cohort.id),
  activity,
  ...authorOf(author),
  detail: { name: cohort.name, changes, trigger },
  createdAt: now,
})

export const announceCohort = (
  tx: Stores,
  project: Pick<Project, 'id' | 'organizationId'>,
  cohortId: number,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'cohort',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(cohortId),
    at: now,
  })
