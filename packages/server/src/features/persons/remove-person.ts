import type { Author } from '../../domain/activity.ts'
import type { Person } from '../../domain/person.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { recordCohorts } from '../cohorts/record-cohort.ts'
import { placeOf } from '../projects/create-project.ts'

/**
 * Removes a person with their memberships in static cohorts. That needs no approval: people can demand to be deleted. Each cohort records
 * it.
 */
export async function removePerson(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { id, uuid }: Person,
  now: Instant,
): Promise<void> {
  const cohortIds = await tx.people.cohortMembers.removePerson(project.id, id)
  await tx.people.persons.remove(project.id, id)
  for (const cohortId of cohortIds) await tx.cohorts.addToCount(cohortId, -1)
  recordAudit(tx, author, placeOf(project), { scope: 'Person', itemId: uuid, name: uuid, activity: 'deleted' }, now)
  if (cohortIds.length === 0) return
  const cohorts = await tx.cohorts.findLive(project.id, cohortIds)
  const changes = [{ action: 'changed' as const, field: 'members', before: null, after: { removed: 1 } }]
  await recordCohorts(
    tx,
    author,
    project,
    cohorts,
    { activity: 'updated', changes, trigger: { deleted_person: uuid } },
    now,
  )
}
