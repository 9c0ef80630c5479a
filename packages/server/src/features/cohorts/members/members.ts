import { randomUUID } from 'node:crypto'
import type { Cohort } from '../../../domain/cohort.ts'
import { readDistinctId } from '../../../domain/distinct-id.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { PersonStores, Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'

/** Persons by their external ids. */
export interface NamedPeople {
  readonly distinctIds: readonly string[]
  readonly uuids: readonly string[]
}

export const noPeople: NamedPeople = { distinctIds: [], uuids: [] }

export function namedPeople(distinctIds: readonly string[] = [], uuids: readonly string[] = []): NamedPeople {
  return {
    distinctIds: [...new Set(distinctIds.flatMap(id => readDistinctId(id) ?? []))],
    uuids: [...new Set(uuids.map(uuid => uuid.toLowerCase()))],
  }
}

export const isEmpty = ({ distinctIds, uuids }: NamedPeople): boolean => distinctIds.length + uuids.length === 0

/** Longer lists are imported in the background. */
const synchronousLookupsMax = 2000
const idsPerImport = 5000
const unknownListedMax = 100

/** Throws `invalid` for a dynamic cohort, whose members follow from its filters. */
export function requireStatic(cohort: Pick<Cohort, 'isStatic'>): void {
  if (!cohort.isStatic) {
    throw invalid(null, 'invalid_input', 'Members can only be added to or removed from a static cohort.')
  }
}

/**
 * Adds a short list immediately and returns the counts; queues a long one as a background import. Throws `conflict` while the cohort is
 * being filled from a flag.
 */
export async function addMembers(
  tx: Stores,
  project: Pick<Project, 'id'>,
  cohort: Cohort,
  people: NamedPeople,
  now: Instant,
): Promise<{ added: number; unknown: number; unknown_ids: string[] } | undefined> {
  if (isEmpty(people)) {
    await tx.cohorts.saveCalculation(cohort.id, { at: now, error: null })
    return { added: 0, unknown: 0, unknown_ids: [] }
  }
  if (people.distinctIds.length + people.uuids.length > synchronousLookupsMax) {
    await queueImport(tx, project, cohort, people, now)
    return undefined
  }
  const { personIds, unknown, unknownIds } = await lookUp(tx.people, project.id, people)
  const added = await addPersons(tx, project.id, cohort.id, personIds)
  await tx.cohorts.saveCalculation(cohort.id, { at: now, error: null })
  return { added, unknown, unknown_ids: unknownIds }
}

export async function removeMembers(
  tx: Stores,
  project: Pick<Project, 'id'>,
  cohort: Cohort,
  people: NamedPeople,
): Promise<{ removed: number; unknown: number }> {
  const { personIds, unknown } = await lookUp(tx.people, project.id, people)
  const removed = await tx.people.cohortMembers.remove(cohort.id, personIds)
  await tx.cohorts.addToCount(cohort.id, -removed)
  return { removed, unknown }
}

/** Returns how many are new. */
async function addPersons(
  tx: Stores,
  projectId: number,
  cohortId: number,
  personIds: readonly number[],
): Promise<number> {
  const added = await tx.people.cohortMembers.add(projectId, cohortId, personIds)
  await tx.cohorts.addToCount(cohortId, added)
  return added
}

async function lookUp(tx: PersonStores, projectId: number, people: NamedPeople) {
  const byDistinctId = await tx.cohortMembers.findPersons(projectId, people.distinctIds)
  const byUuid = await tx.cohortMembers.findPersonsByUuid(projectId, people.uuids)
  return {
    personIds: [...new Set([...byDistinctId.values(), ...byUuid.values()])],
    unknownIds: people.distinctIds.filter(id => !byDistinctId.has(id)).slice(0, unknownListedMax),
    unknown: people.distinctIds.length - byDistinctId.size + people.uuids.length - byUuid.size,
  }
}

async function queueImport(
  tx: Stores,
  project: Pick<Project, 'id'>,
  cohort: Cohort,
  people: NamedPeople,
  now: Instant,
): Promise<void> {
  const pending = await tx.cohortJobs.find(cohort.id)
  if (pending && pending.task.kind !== 'import') {
    throw new Problem('conflict', 'The cohort is still being filled. Add members when that is done.')
  }
  const { personIds } = await lookUp(tx.people, project.id, { distinctIds: [], uuids: people.uuids })
  await addPersons(tx, project.id, cohort.id, personIds)
  for (const part of inParts(people.distinctIds, idsPerImport)) await tx.cohortJobs.addImport(cohort.id, part)
  const queued = pending ? (pending.total ?? 0) - pending.processed : 0
  await tx.cohortJobs.put({
    cohortId: cohort.id,
    task: { kind: 'import' },
    total: queued + people.distinctIds.length,
    revision: randomUUID(),
    dueAt: now,
  })
}
