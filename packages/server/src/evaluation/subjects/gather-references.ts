import { type CohortDefinition, type FlagDefinition, usesOf } from '@halyard/engine'
import { cohortDefinition } from '../../domain/cohort.ts'
import type { Stores } from '../../stores.ts'
import { flagDefinition } from '../projects/flag-definition.ts'

export interface References {
  readonly flags: readonly FlagDefinition[]
  readonly cohorts: readonly CohortDefinition[]
}

/** Whether changes of other flags or cohorts can invalidate the filters. */
export function refersToOthers(filters: unknown): boolean {
  const { flags, cohorts } = usesOf(filters)
  return flags.length > 0 || cohorts.length > 0
}

/** The live flags and cohorts that the filters refer to, transitively. */
export async function gatherReferences(
  tx: Stores,
  projectId: number,
  filters: readonly unknown[],
): Promise<References> {
  const flags = new Map<number, FlagDefinition>()
  const cohorts = new Map<number, CohortDefinition>()
  // Ids that do not exist must not be queried again.
  const asked = { flags: new Set<number>(), cohorts: new Set<number>() }
  let open: readonly unknown[] = filters
  while (open.length > 0) {
    const uses = open.map(usesOf)
    const flagIds = unseen(
      asked.flags,
      uses.flatMap(({ flags }) => flags),
    )
    const cohortIds = unseen(
      asked.cohorts,
      uses.flatMap(({ cohorts }) => cohorts),
    )
    // Most filters refer to nothing, so no query is needed.
    if (flagIds.length === 0 && cohortIds.length === 0) break
    const foundFlags = (await tx.flags.findLive(projectId, flagIds)).map(flagDefinition)
    const foundCohorts = (await tx.cohorts.findLive(projectId, cohortIds)).map(cohortDefinition)
    for (const flag of foundFlags) flags.set(flag.id, flag)
    for (const cohort of foundCohorts) cohorts.set(cohort.id, cohort)
    open = [...foundFlags, ...foundCohorts].map(definition => definition.filters)
  }
  return { flags: [...flags.values()], cohorts: [...cohorts.values()] }
}

function unseen(seen: Set<number>, ids: readonly number[]): number[] {
  const fresh = [...new Set(ids)].filter(id => !seen.has(id))
  for (const id of fresh) seen.add(id)
  return fresh
}
