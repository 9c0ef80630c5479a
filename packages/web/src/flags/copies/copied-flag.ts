import type { Flag } from '@halyard/contract'
import { remapFilters, usesCohorts } from '@halyard/engine'
import { type Draft, draftOf } from '../editor/draft.ts'
import type { FlagInProject } from './flag-in-projects.ts'

/** What the numbers in a definition stand for where it is copied from. */
export interface Origin {
  cohortName(id: string): string
  flagKey(id: string): string
  readonly groupTypes: Readonly<Record<string, string>>
}

/**
 * The flag as it would arrive in another project, whose cohorts, flags and group types have other numbers. Undefined while
 * the project lacks a cohort that is copied along.
 */
export function copiedDraft(
  flag: Flag,
  origin: Origin,
  target: Pick<FlagInProject, 'cohortNames' | 'dependencies'>,
  groupTypes: Readonly<Record<string, string>>,
): Draft | undefined {
  const cohorts = inverse(target.cohortNames)
  if (usesCohorts(flag.filters).some(id => !cohorts.has(origin.cohortName(String(id))))) return undefined
  const types = inverse(groupTypes)
  const filters = remapFilters(flag.filters, {
    cohort: id => cohorts.get(origin.cohortName(id)),
    flag: id => target.dependencies[origin.flagKey(id)],
    groupType: index => types.get(origin.groupTypes[index] ?? ''),
  })
  return draftOf({ ...flag, filters })
}

const inverse = (names: Readonly<Record<string, string>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(names).map(([id, name]) => [name, Number(id)]))
