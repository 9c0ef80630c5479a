import type { CohortDefinition } from '@halyard/engine'
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
  type PlannedItem,
  sourceHashOf,
} from './import-plan.ts'

/** What a project has of a source, as drift is measured against it. */
export interface CurrentState {
  /** Live flags and cohorts only. */
  flag(id: number | undefined): Flag | undefined
  cohort(id: number | undefined): CohortDefinition | undefined
  /** What was imported from the item before, or has the same key. */
  existingId(item: Pick<PlannedItem, 'kind' | 'sourceId' | 'definition'>): number | undefined
  drift(definition: Definition): Drift
}

export async function readCurrentState(tx: Stores, projectId: number, source: ImportSource): Promise<CurrentState> {
  const links = await tx.imports.listLinks(projectId, source)
  return stateOf(links, await tx.flags.listLive(projectId), await tx.cohorts.listDefinitions(projectId))
}

/** Of a project that does not exist yet. */
export const emptyState = (): CurrentState => stateOf([], [], [])

function stateOf(
  linked: readonly ImportLink[],
  flags: readonly Flag[],
  definitions: readonly CohortDefinition[],
): CurrentState {
  const links = new Map(linked.map(link => [`${link.kind} ${link.sourceId}`, link]))
  const flagsById = new Map(flags.map(flag => [flag.id, flag]))
  const flagsByKey = new Map(flags.map(flag => [flag.key, flag]))
  const cohorts = new Map(definitions.map(cohort => [cohort.id, cohort]))
  const linkOf = (kind: ImportLink['kind'], sourceId: string) => links.get(`${kind} ${sourceId}`)

  return {
    flag: id => flagsById.get(id ?? 0),
    cohort: id => cohorts.get(id ?? 0),
    existingId({ kind, sourceId, definition }) {
      const link = linkOf(kind, sourceId)
      if (kind === 'segment') return cohorts.get(link?.cohortId ?? 0)?.id
      const key = definition !== null && 'flag' in definition ? definition.flag.key : ''
      return (flagsById.get(link?.flagId ?? 0) ?? flagsByKey.get(key))?.id
    },
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
