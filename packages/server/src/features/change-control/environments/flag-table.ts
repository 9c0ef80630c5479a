import { isDeepStrictEqual } from 'node:util'
import type { FlagAcrossEnvironments } from '@halyard/contract'
import { remapFilters } from '@halyard/engine'
import { type Flag, rolloutPercentage } from '../../../domain/flag.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { canEditFlag, type FlagGrants } from '../../access/access.ts'
import { summaryOf } from '../../flags/list/flag-summary.ts'

interface FlagRow {
  readonly key: string
  readonly differs: boolean
  /** One for each project, in their order. */
  readonly flags: readonly (Flag | undefined)[]
}

/** One row per key, one column per project. Bounded by the flags that projects may have. */
export async function flagTable(tx: Stores, projects: readonly Project[]): Promise<readonly FlagRow[]> {
  const columns: ReadonlyMap<string, ComparedFlag>[] = []
  for (const project of projects) columns.push(await columnOf(tx, project))
  const keys = [...new Set(columns.flatMap(column => [...column.keys()]))].sort()
  return keys.map(key => {
    const flags = columns.map(column => column.get(key))
    const [first, ...others] = flags
    return {
      key,
      differs: others.some(other => !isDeepStrictEqual(other?.compared, first?.compared)),
      flags: flags.map(one => one?.flag),
    }
  })
}

export const rowToWire = (
  { key, differs, flags }: FlagRow,
  projects: readonly Project[],
  grants: FlagGrants,
): FlagAcrossEnvironments => ({
  key,
  differs,
  environments: flags.map((flag, n) => {
    const canEdit = flag !== undefined && canEditFlag(grants, flag)
    return {
      project: projects[n]!.id,
      flag_id: flag?.id ?? null,
      active: flag?.active ?? false,
      rollout_percentage: flag ? rolloutPercentage(flag.filters) : null,
      version: flag?.version ?? null,
      can_edit: canEdit,
      flag: flag ? summaryOf(flag, canEdit) : null,
    }
  }),
})

interface ComparedFlag {
  readonly flag: Flag
  /** What is compared: references by name, so that ids do not matter. */
  readonly compared: unknown
}

async function columnOf(tx: Stores, project: Project): Promise<ReadonlyMap<string, ComparedFlag>> {
  const flags = (await tx.flags.listLive(project.id)).filter(({ archived }) => !archived)
  const cohorts = new Map((await tx.cohorts.listDefinitions(project.id)).map(({ id, name }) => [String(id), name]))
  const keys = new Map(flags.map(({ id, key }) => [String(id), key]))
  const column = new Map<string, ComparedFlag>()
  for (const flag of flags) {
    const filters = remapFilters(flag.filters, {
      cohort: id => `cohort ${cohorts.get(id) ?? id}`,
      flag: id => `flag ${keys.get(id) ?? id}`,
      groupType: () => undefined,
    })
    column.set(flag.key, { flag, compared: [flag.active, filters] })
  }
  return column
}
