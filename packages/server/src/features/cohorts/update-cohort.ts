import { isDeepStrictEqual } from 'node:util'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { missing, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Author, diffFields, type FieldChange } from '../activity/activity.ts'
import { authorizeCohortWrite } from '../change-control/authorize-write.ts'
import type { Permit } from '../change-control/permit.ts'
import { openReview } from '../change-control/requests/open-request.ts'
import { checkCohortContent, isBlank, rejectIfInUse } from './check-cohort.ts'
import { applyPatch, type Cohort, type CohortPatch, contentOf } from './cohort.ts'
import { contentToWire } from './cohort-resource.ts'
import { type CohortChange, queueCount, reread } from './create-cohort.ts'
import { addMembers, isEmpty, type NamedPeople, removeMembers, requireStatic } from './members/members.ts'
import { recordCohort } from './record-cohort.ts'

export interface CohortUpdate {
  readonly cohortId: number
  readonly patch: CohortPatch
  readonly people: NamedPeople
  /** The version that the client has read; absent means any version. */
  readonly seenVersion?: number | undefined
}

/**
 * Throws `missing`, `invalid` for filters that cannot be evaluated and for deleting a cohort that is in use, and `conflict` when
 * `seenVersion` is out of date. Writes nothing when nothing changes.
 */
export async function updateCohort(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { cohortId, patch, people, seenVersion }: CohortUpdate,
  now: Instant,
  permit: Permit,
): Promise<CohortChange> {
  const stored = await getCohort(tx, project, cohortId)
  if (!isEmpty(people)) requireStatic(stored)
  if (seenVersion !== undefined && seenVersion !== stored.version) {
    throw new Problem(
      'conflict',
      `Version ${seenVersion} is out of date; the cohort is at version ${stored.version}. Read it again and retry.`,
    )
  }
  const content = applyPatch(contentOf(stored), isStaticBlank(stored, patch) ? { ...patch, filters: undefined } : patch)
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  if (changes.length === 0 && isEmpty(people)) return { cohort: stored }
  const members = isEmpty(people) ? {} : { added: { ...people } }
  const write = { stored, cohort: { ...stored, ...content }, members }
  const { trigger, bypassed } = await authorizeCohortWrite(tx, permit, project, write, now)
  if (bypassed) await openReview(tx, project, bypassed, { flagId: null, version: stored.version + 1 }, now)
  if (changes.length > 0)
    await saveContent(tx, author, project, stored, { ...stored, ...content }, { changes, trigger }, now)
  const change = isEmpty(people) ? undefined : await addPeople(tx, author, project, stored, people, now)
  return { cohort: await reread(tx, stored), ...change }
}

const isStaticBlank = (stored: Cohort, { filters }: CohortPatch): boolean =>
  stored.isStatic && filters !== undefined && isBlank(filters)

async function saveContent(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  stored: Cohort,
  changed: Cohort,
  record: { readonly changes: readonly FieldChange[]; readonly trigger: Readonly<Record<string, unknown>> | null },
  now: Instant,
): Promise<void> {
  const cohort: Cohort = { ...changed, version: stored.version + 1, updatedAt: now }
  if (cohort.deleted !== stored.deleted || refersToOthers(cohort.filters)) await tx.projects.holdReferences(project.id)
  await checkCohortContent(tx, project, cohort)
  if (cohort.deleted && !stored.deleted) {
    await rejectIfInUse(tx, project, stored)
    await tx.cohortJobs.remove(cohort.id)
  }
  await tx.cohorts.save(cohort)
  const needsRecount = !isDeepStrictEqual(cohort.filters, stored.filters) || (stored.deleted && !cohort.deleted)
  if (!cohort.isStatic && !cohort.deleted && needsRecount) await queueCount(tx, cohort.id, now)
  await recordCohort(tx, author, project, cohort, { activity: 'updated', ...record }, now)
}

async function addPeople(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  cohort: Cohort,
  people: NamedPeople,
  now: Instant,
) {
  const change = await addMembers(tx, project, cohort, people, now)
  const added = change?.added ?? { queued: people.distinctIds.length }
  if (added !== 0) await recordMembers(tx, author, project, cohort, { added }, now)
  return change
}

/** Throws `missing` and, for a dynamic cohort, `invalid`. */
export async function removeFromCohort(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  cohortId: number,
  people: NamedPeople,
  now: Instant,
  permit: Permit,
) {
  const stored = await getCohort(tx, project, cohortId)
  requireStatic(stored)
  const write = { stored, cohort: stored, members: { removed: { ...people } } }
  const { bypassed } = await authorizeCohortWrite(tx, permit, project, write, now)
  if (bypassed) await openReview(tx, project, bypassed, { flagId: null, version: stored.version }, now)
  const change = await removeMembers(tx, project, stored, people)
  if (change.removed > 0) await recordMembers(tx, author, project, stored, { removed: change.removed }, now)
  return { cohort: await reread(tx, stored), ...change }
}

const recordMembers = (
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  cohort: Cohort,
  after: Readonly<Record<string, unknown>>,
  now: Instant,
): Promise<void> => {
  const changes: FieldChange[] = [{ action: 'changed', field: 'members', before: null, after }]
  return recordCohort(tx, author, project, cohort, { activity: 'updated', changes }, now)
}

/** Throws `missing`. */
export async function getCohort(tx: Stores, project: Pick<Project, 'id'>, cohortId: number): Promise<Cohort> {
  const cohort = await tx.cohorts.find(project.id, cohortId)
  if (!cohort) throw missing('Cohort')
  return cohort
}
