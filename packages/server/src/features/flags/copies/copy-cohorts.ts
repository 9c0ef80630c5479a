import { remapFilters, usesCohorts } from '@halyard/engine'
import type { Cohort } from '../../../domain/cohort.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { createCohort } from '../../cohorts/create-cohort.ts'
import { noPeople } from '../../cohorts/members/members.ts'

/** The cohorts that filters need, and those that these need; each stands after the ones it needs. */
export async function cohortsNeededBy(tx: Stores, projectId: number, filters: unknown): Promise<readonly Cohort[]> {
  const ordered: Cohort[] = []
  const seen = new Set<number>()
  const visit = async (ids: readonly number[]): Promise<void> => {
    const unseen = ids.filter(id => !seen.has(id))
    for (const id of unseen) seen.add(id)
    for (const cohort of await tx.cohorts.findLive(projectId, unseen)) {
      await visit(usesCohorts(cohort.filters))
      ordered.push(cohort)
    }
  }
  await visit(usesCohorts(filters))
  return ordered
}

/**
 * Finds each cohort in the target project by its name, and makes those that are missing: a dynamic one with the same definition,
 * a static one empty.
 */
export async function copyCohorts(
  tx: Stores,
  actor: Actor,
  target: Project,
  cohorts: readonly Cohort[],
  now: Instant,
): Promise<CopiedCohorts> {
  const ids = new Map<string, number>()
  const createdIds: number[] = []
  if (cohorts.length === 0) return { ids, createdIds }
  const existing = new Map((await tx.cohorts.listDefinitions(target.id)).map(({ name, id }) => [name, id]))
  for (const cohort of cohorts) {
    const existingId = existing.get(cohort.name)
    const id = existingId ?? (await createCopy(tx, actor, target, cohort, ids, now)).id
    if (existingId === undefined) createdIds.push(id)
    ids.set(String(cohort.id), id)
    existing.set(cohort.name, id)
  }
  return { ids, createdIds }
}

interface CopiedCohorts {
  /** The target's id for each id of the source. */
  readonly ids: ReadonlyMap<string, number>
  /** Each stands after the ones it needs. */
  readonly createdIds: readonly number[]
}

async function createCopy(
  tx: Stores,
  actor: Actor,
  target: Project,
  cohort: Cohort,
  ids: ReadonlyMap<string, number>,
  now: Instant,
): Promise<Cohort> {
  const filters = remapFilters(cohort.filters, {
    cohort: id => ids.get(id),
    flag: () => undefined,
    groupType: () => undefined,
  })
  const { name, description, isStatic } = cohort
  const content = { name, description, filters, deleted: false }
  const made = await createCohort(tx, actor, target, { content, isStatic, people: noPeople }, now)
  return made.cohort
}
