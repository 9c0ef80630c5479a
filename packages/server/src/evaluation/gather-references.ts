import { type CohortDefinition, type FlagDefinition, usesCohorts, usesFlags } from '@halyard/engine'
import { cohortDefinition } from '../cohorts/cohort.ts'
import type { Stores } from '../stores.ts'
import { flagDefinition } from './flag-definition.ts'

export interface References {
  readonly flags: readonly FlagDefinition[]
  readonly cohorts: readonly CohortDefinition[]
}

/** Whether filters can become wrong by what others do to another flag or cohort. */
export const refersToOthers = (filters: unknown): boolean =>
  usesFlags(filters).length > 0 || usesCohorts(filters).length > 0

/** The live flags and cohorts that some filters refer to, and those that these refer to, all the way. */
export async function gatherReferences(
  tx: Stores,
  projectId: number,
  filters: readonly unknown[],
): Promise<References> {
  const flags = new Map<number, FlagDefinition>()
  const cohorts = new Map<number, CohortDefinition>()
  // What was asked for and does not exist must not be asked for again.
  const asked = { flags: new Set<number>(), cohorts: new Set<number>() }
  let open: readonly unknown[] = filters
  while (open.length > 0) {
    const flagIds = unseen(asked.flags, open.flatMap(usesFlags))
    const cohortIds = unseen(asked.cohorts, open.flatMap(usesCohorts))
    const foundFlags = (await tx.flags.findLive(projectId, flagIds)).map(flagDefinition)
    const foundCohorts = (await tx.cohorts.findLive(projectId, cohortIds)).map(cohortDefinition)
    for (const flag of foundFlags) flags.set(flag.id, flag)
    for (const cohort of foundCohorts) cohorts.set(cohort.id, cohort)
    open = [...foundFlags, ...foundCohorts].map(found => found.filters)
  }
  return { flags: [...flags.values()], cohorts: [...cohorts.values()] }
}

function unseen(seen: Set<number>, ids: readonly number[]): number[] {
  const fresh = [...new Set(ids)].filter(id => !seen.has(id))
  for (const id of fresh) seen.add(id)
  return fresh
}
