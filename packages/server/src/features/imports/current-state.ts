import type { ImportSource } from '@halyard/importers/model'
import type { Stores } from '../../stores.ts'
import type { Flag } from '../flags/flag.ts'
import {
  cohortHash,
  type Definition,
  type Drift,
  driftOf,
  flagHash,
  type ImportLink,
  sourceHashOf,
} from './import-plan.ts'

/** What a project has of a source, as drift is measured against it. */
export interface CurrentState {
  linkOf(kind: ImportLink['kind'], sourceId: string): ImportLink | undefined
  /** Live flags and cohorts only. */
  flag(id: number | null | undefined): Flag | undefined
  flagByKey(key: string): Flag | undefined
  cohort(id: number | null | undefined): { readonly id: number; readonly isStatic: boolean } | undefined
  drift(definition: Definition): Drift
}

export async function readCurrentState(tx: Stores, projectId: number, source: ImportSource): Promise<CurrentState> {
  const links = new Map(
    (await tx.imports.listLinks(projectId, source)).map(link => [`${link.kind} ${link.sourceId}`, link]),
  )
  const flags = await tx.flags.listLive(projectId)
  const flagsById = new Map(flags.map(flag => [flag.id, flag]))
  const flagsByKey = new Map(flags.map(flag => [flag.key, flag]))
  const cohorts = new Map((await tx.cohorts.listDefinitions(projectId)).map(cohort => [cohort.id, cohort]))
  const linkOf = (kind: ImportLink['kind'], sourceId: string) => links.get(`${kind} ${sourceId}`)

  return {
    linkOf,
    flag: id => flagsById.get(id ?? 0),
    flagByKey: key => flagsByKey.get(key),
    cohort: id => cohorts.get(id ?? 0),
    drift(definition) {
      const sourceHash = sourceHashOf(definition)
      if ('flag' in definition) {
        const link = linkOf('flag', definition.flag.sourceId)
        const current = flagsById.get(link?.flagId ?? 0)
        return driftOf(link, sourceHash, current && flagHash(current), flagsByKey.has(definition.flag.key))
      }
      const link = linkOf('segment', definition.cohort.sourceId)
      const current = cohorts.get(link?.cohortId ?? 0)
      const hash = current && cohortHash({ ...current, filters: current.filters as Readonly<Record<string, unknown>> })
      return driftOf(link, sourceHash, hash, false)
    },
  }
}
