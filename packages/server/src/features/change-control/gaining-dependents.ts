import { dependentReleases, type FlagDefinition, usesOf } from '@halyard/engine'
import type { Flag, FlagContent } from '../../domain/flag.ts'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type DependentGain, servedDefinition } from './flag-change.ts'

/** The flags of a project that depend on others, and how: read once when many flags are written. */
export interface FlagDependents {
  readonly flags: readonly Flag[]
  /** The ids of the flags that a cohort refers to, also through other cohorts. */
  readonly flagsOfCohort: (cohortId: string) => readonly number[]
}

export async function readDependents(tx: Stores, project: Project): Promise<FlagDependents> {
  const flagsByCohort = await flagsOfCohorts(tx, project)
  // Few projects have cohorts that refer to flags; otherwise only flags that name one depend on it.
  const flags =
    flagsByCohort.size === 0 ? await tx.flags.listDependents(project.id) : await tx.flags.listLive(project.id)
  return { flags, flagsOfCohort: cohortId => flagsByCohort.get(Number(cohortId)) ?? [] }
}

async function flagsOfCohorts(tx: Stores, project: Project): Promise<ReadonlyMap<number, readonly number[]>> {
  const flags = new Map<number, readonly number[]>()
  if (!(await tx.cohorts.anyRefersToFlags(project.id))) return flags
  const uses = new Map((await tx.cohorts.listDefinitions(project.id)).map(({ id, filters }) => [id, usesOf(filters)]))
  for (const id of uses.keys()) {
    const [seen, open, referred] = [new Set<number>(), [id], new Set<number>()]
    for (let cohort = open.pop(); cohort !== undefined; cohort = open.pop()) {
      if (seen.has(cohort)) continue
      seen.add(cohort)
      for (const flag of uses.get(cohort)?.flags ?? []) referred.add(flag)
      open.push(...(uses.get(cohort)?.cohorts ?? []))
    }
    if (referred.size > 0) flags.set(id, [...referred])
  }
  return flags
}

/** The flags that release to more people because this one changes. A new flag has no dependents. */
export function gainingDependents(
  { flags, flagsOfCohort }: FlagDependents,
  { stored, flag }: { readonly stored: Flag | undefined; readonly flag: FlagContent },
): readonly DependentGain[] {
  if (!stored || flags.length === 0) return []
  const own = ({ ...content }: FlagContent): FlagDefinition => ({ ...servedDefinition(content), id: stored.id })
  const others = new Map(flags.filter(({ id }) => id !== stored.id).map(other => [other.id, other]))
  const definitions = [...others.values()].map(other =>
    flagDefinition({ ...other, active: other.active && !other.archived }),
  )
  return dependentReleases([{ before: own(stored), after: own(flag) }], definitions, flagsOfCohort).map(
    ({ flag: { id, key }, releases }) => ({ key, tags: others.get(id)?.tags ?? [], releases }),
  )
}
