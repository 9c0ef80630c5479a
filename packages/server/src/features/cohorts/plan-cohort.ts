import { isDeepStrictEqual } from 'node:util'
import { type Author, diffFields, type FieldChange } from '../../domain/activity.ts'
import type { Authorization, WriteRequest } from '../../domain/authorization.ts'
import { applyPatch, type Cohort, type CohortPatch, contentOf } from '../../domain/cohort.ts'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { missing, Problem } from '../../problem.ts'
import type { Hints, Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { countsEvents } from './behavior/counted-event.ts'
import { checkBehaviorLimits, syncCountedEvents } from './behavior/sync-counted-events.ts'
import { checkCohortContent, isBlank, rejectIfInUse } from './check-cohort.ts'
import { contentToWire } from './cohort-resource.ts'
import { type CohortChange, queueCount, reread } from './create-cohort.ts'
import { addMembers, isEmpty, type NamedPeople, noPeople, removeMembers, requireStatic } from './members/members.ts'
import { recordCohort } from './record-cohort.ts'

export interface CohortUpdate {
  readonly cohortId: number
  readonly patch: CohortPatch
  readonly people: NamedPeople
  /** The version that the client has read; absent means any version. */
  readonly seenVersion?: number | undefined
}

/** The way by which requests write existing cohorts, as `FlagWrites` for flags. */
export interface CohortWrites {
  saveCohort(
    by: WriteRequest,
    plan: (tx: Stores) => Promise<PlannedCohort>,
    /** `withPersons` where members are added or removed. */
    hints: Hints,
  ): Promise<CommittedCohort>
}

/** A cohort as it would be saved, checked, and the members that it would gain or lose. Planning writes nothing. */
export interface PlannedCohort {
  readonly project: Project
  readonly author: NonNullable<Author>
  readonly stored: Cohort
  readonly cohort: Cohort
  readonly changes: readonly FieldChange[]
  readonly added: NamedPeople
  /** Undefined unless members are removed. */
  readonly removed?: NamedPeople
  readonly at: Instant
}

/** Raises `missing`, `invalid` for filters that cannot be evaluated and for deleting a cohort that is in use, and `conflict` for an old version. */
export async function planCohortUpdate(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { cohortId, patch, people, seenVersion }: CohortUpdate,
  now: Instant,
): Promise<PlannedCohort> {
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
  const planned = { project, author, stored, changes, added: people, at: now }
  if (changes.length === 0) return { ...planned, cohort: stored }
  const cohort: Cohort = { ...stored, ...content, version: stored.version + 1, updatedAt: now }
  const isHolding = cohort.deleted !== stored.deleted || refersToOthers(cohort.filters) || isCounting(planned, cohort)
  if (isHolding) await tx.projects.holdReferences(project.id)
  await checkCohortContent(tx, project, cohort)
  await checkBehaviorLimits(tx, project.id, cohort)
  if (cohort.deleted && !stored.deleted) await rejectIfInUse(tx, project, stored)
  return { ...planned, cohort }
}

const isCounting = ({ stored }: Pick<PlannedCohort, 'stored'>, cohort: Cohort): boolean =>
  countsEvents(stored) || countsEvents(cohort)

const isStaticBlank = (stored: Cohort, { filters }: CohortPatch): boolean =>
  stored.isStatic && filters !== undefined && isBlank(filters)

/** Raises `missing` and, for a dynamic cohort, `invalid`. */
export async function planCohortRemoval(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { cohortId, people }: { readonly cohortId: number; readonly people: NamedPeople },
  now: Instant,
): Promise<PlannedCohort> {
  const stored = await getCohort(tx, project, cohortId)
  requireStatic(stored)
  return { project, author, stored, cohort: stored, changes: [], added: noPeople, removed: people, at: now }
}

/** Nothing would be saved. */
export const isUnchangedCohort = ({ changes, added, removed }: PlannedCohort): boolean =>
  changes.length === 0 && isEmpty(added) && !removed

export interface CommittedCohort extends CohortChange {
  readonly removed?: number
}

/** Raises `StaleWrite` when another transaction saved the cohort first, and `conflict` while it is being filled. */
export async function commitCohort(
  tx: Stores,
  planned: PlannedCohort,
  authorization: Authorization,
): Promise<CommittedCohort> {
  const { stored } = planned
  if (isUnchangedCohort(planned)) return { cohort: stored }
  // Before the cohort's row is locked: a merge holds persons when it comes to the cohort, and no database sees a deadlock across two.
  const { counts, after } = await commitMembers(tx, planned)
  if (planned.changes.length > 0) await saveContent(tx, planned, authorization)
  if (after) await recordMembers(tx, planned, after, authorization)
  return { cohort: await reread(tx, stored), ...counts }
}

/** What to return, and what to record unless nothing has changed. */
async function commitMembers(
  tx: Stores,
  { project, stored, added, removed, at }: PlannedCohort,
): Promise<{ readonly counts?: object | undefined; readonly after?: Readonly<Record<string, unknown>> }> {
  if (removed) {
    const counts = await removeMembers(tx, project, stored, removed)
    return { counts, ...(counts.removed > 0 && { after: { removed: counts.removed } }) }
  }
  if (isEmpty(added)) return {}
  const counts = await addMembers(tx, project, stored, added, at)
  const count = counts?.added ?? { queued: added.distinctIds.length }
  return { counts, ...(count !== 0 && { after: { added: count } }) }
}

async function saveContent(
  tx: Stores,
  { project, author, stored, cohort, changes, at }: PlannedCohort,
  authorization: Authorization,
): Promise<void> {
  if (cohort.deleted && !stored.deleted) await tx.cohortJobs.remove(cohort.id)
  await tx.cohorts.save(cohort, authorization)
  if (isCounting({ stored }, cohort)) await syncCountedEvents(tx, project.id, at)
  const needsRecount = !isDeepStrictEqual(cohort.filters, stored.filters) || (stored.deleted && !cohort.deleted)
  if (!cohort.isStatic && !cohort.deleted && needsRecount) await queueCount(tx, cohort.id, at)
  const { trigger } = authorization
  await recordCohort(tx, author, project, cohort, { activity: 'updated', changes, trigger }, at)
}

const recordMembers = (
  tx: Stores,
  { project, author, stored, at }: PlannedCohort,
  after: Readonly<Record<string, unknown>>,
  { trigger }: Authorization,
): Promise<void> => {
  const changes: FieldChange[] = [{ action: 'changed', field: 'members', before: null, after }]
  return recordCohort(tx, author, project, stored, { activity: 'updated', changes, trigger }, at)
}

/** Throws `missing`. */
export async function getCohort(tx: Stores, project: Pick<Project, 'id'>, cohortId: number): Promise<Cohort> {
  const cohort = await tx.cohorts.find(project.id, cohortId)
  if (!cohort) throw missing('Cohort')
  return cohort
}
