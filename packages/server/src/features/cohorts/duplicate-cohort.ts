import { cohortNameCharactersMax } from '@halyard/contract'
import type { Author } from '../../domain/activity.ts'
import type { Cohort } from '../../domain/cohort.ts'
import { dateOf, type Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { cohortQuery } from './cohort-query.ts'
import { createFilledCohort } from './create-cohort.ts'
import { getCohort } from './plan-cohort.ts'

const suffix = ' (static copy)'

/** Creates a static cohort from the current members of a dynamic one. Throws `missing`, and `invalid` for a static or deleted cohort. */
export async function duplicateAsStatic(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  cohortId: number,
  now: Instant,
): Promise<Cohort> {
  const cohort = await getCohort(tx, project, cohortId)
  if (cohort.isStatic) throw invalid(null, 'invalid_input', 'The cohort is already static.')
  const query = await cohortQuery(tx, project.id, cohort.id)
  if (!query) throw invalid(null, 'invalid_input', 'The cohort is deleted; restore it first.')
  const task = {
    kind: 'fill',
    flagKey: query.key,
    definitions: query.definitions,
    now: dateOf(now).getTime(),
  } as const
  const name = [...cohort.name].slice(0, cohortNameCharactersMax - suffix.length).join('') + suffix
  const content = { name, description: cohort.description, filters: {}, deleted: false }
  return createFilledCohort(tx, author, project, content, task, now)
}
