import { randomUUID } from 'node:crypto'
import type { Author } from '../../domain/activity.ts'
import type { Cohort, CohortContent } from '../../domain/cohort.ts'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { countsEvents } from './behavior/counted-event.ts'
import { checkBehaviorLimits, syncCountedEvents } from './behavior/sync-counted-events.ts'
import { checkCohortContent } from './check-cohort.ts'
import type { CohortTask, NewCohortJob } from './members/cohort-job.ts'
import { addMembers, isEmpty, type NamedPeople } from './members/members.ts'
import { recordCohort, recordCohorts } from './record-cohort.ts'

export interface NewCohort {
  readonly content: CohortContent
  readonly isStatic: boolean
  readonly people: NamedPeople
}

export interface CohortChange {
  readonly cohort: Cohort
  readonly added?: number
  readonly unknown?: number
}

/** Throws `invalid` for filters that cannot be evaluated, and for members of a dynamic cohort. */
export async function createCohort(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { content, isStatic, people }: NewCohort,
  now: Instant,
): Promise<CohortChange> {
  if (!isStatic && !isEmpty(people)) {
    throw invalid('is_static', 'invalid_input', 'A cohort with listed members must be static; send is_static: true.')
  }
  const cohort = await insertCohort(tx, author, project, { ...content, isStatic }, now)
  if (!isStatic) await queueCount(tx, cohort.id, now)
  const change = isStatic ? await addMembers(tx, project, cohort, people, now) : undefined
  return { cohort: await reread(tx, cohort), ...change }
}

/**
 * Creates cohorts of one project with a statement for many of them, and returns them in the same order. The caller holds the project's
 * references and has checked the filters with the engine.
 */
export async function createCohorts(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  cohorts: readonly NewCohort[],
  now: Instant,
): Promise<readonly Cohort[]> {
  const created = await tx.cohorts.createAll(
    cohorts.map(({ content, isStatic }) => newCohort(author, project, { ...content, isStatic }, now)),
  )
  for (const cohort of created) await checkBehaviorLimits(tx, project.id, cohort)
  if (created.some(countsEvents)) await syncCountedEvents(tx, project.id, now)
  await recordCohorts(tx, author, project, created, { activity: 'created', changes: [] }, now)
  const dynamic = created.filter(({ isStatic }) => !isStatic)
  await tx.cohortJobs.createAll(dynamic.map(({ id }) => countJob(id, now)))
  for (const [index, { isStatic, people }] of cohorts.entries()) {
    if (isStatic) await addMembers(tx, project, created[index]!, people, now)
  }
  return created
}

/** Creates a static cohort that a background job fills. */
export async function createFilledCohort(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  content: CohortContent,
  task: CohortTask & { kind: 'fill' },
  now: Instant,
): Promise<Cohort> {
  const cohort = await insertCohort(tx, author, project, { ...content, isStatic: true }, now)
  const total = await tx.people.persons.count(project.id)
  await tx.cohortJobs.put({ cohortId: cohort.id, task, total, revision: randomUUID(), dueAt: now })
  return reread(tx, cohort)
}

async function insertCohort(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  content: CohortContent & Pick<Cohort, 'isStatic'>,
  now: Instant,
): Promise<Cohort> {
  const filters = content.isStatic ? {} : content.filters
  const isCounting = countsEvents(content)
  if (isCounting || refersToOthers(filters)) await tx.projects.holdReferences(project.id)
  await checkCohortContent(tx, project, { ...content, id: 0 })
  await checkBehaviorLimits(tx, project.id, { ...content, id: 0 })
  const cohort = await tx.cohorts.create(newCohort(author, project, content, now))
  if (isCounting) await syncCountedEvents(tx, project.id, now)
  await recordCohort(tx, author, project, cohort, { activity: 'created', changes: [] }, now)
  return cohort
}

const newCohort = (
  author: NonNullable<Author>,
  project: Project,
  content: CohortContent & Pick<Cohort, 'isStatic'>,
  now: Instant,
): Omit<Cohort, 'id' | 'calculation'> => ({
  ...content,
  filters: content.isStatic ? {} : content.filters,
  projectId: project.id,
  createdBy: author.user,
  createdAt: now,
  updatedAt: now,
  version: 1,
})

/** Queues a background count of a dynamic cohort and supersedes one that is running. */
export const queueCount = (tx: Stores, cohortId: number, now: Instant): Promise<void> =>
  tx.cohortJobs.put(countJob(cohortId, now))

const countJob = (cohortId: number, now: Instant): NewCohortJob => ({
  cohortId,
  task: { kind: 'count' },
  total: null,
  revision: randomUUID(),
  dueAt: now,
})

export const reread = async (tx: Stores, cohort: Cohort): Promise<Cohort> =>
  (await tx.cohorts.find(cohort.projectId, cohort.id)) ?? cohort
