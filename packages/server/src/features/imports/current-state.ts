import type { CohortDefinition } from '@halyard/engine'
import type { ImportSource } from '@halyard/migrate/model'
import { cohortHash, type Definition, type Drift, driftOf, flagHash, sourceHashOf } from '@halyard/migrate/plan/drift'
import type { Flag } from '../../domain/flag.ts'
import type { Stores } from '../../stores.ts'
import type { JsonSchema } from '../flags/schemas/payload-schema.ts'
import type { ImportLink, PlannedItem } from './import-plan.ts'

/** What a project has of a source, as drift is measured against it. */
export interface CurrentState {
  /** Live flags and cohorts only. */
  flag(id: number | undefined): Flag | undefined
  cohort(id: number | undefined): CohortDefinition | undefined
  /** What was imported from the item before, or has the same key. */
  existingId(item: Pick<PlannedItem, 'kind' | 'sourceId' | 'definition'>): number | undefined
  drift(definition: Definition): Drift
  /** Whether the flag was imported before without the type of its values, which clients of OpenFeature may rely on. */
  lacksType(definition: Definition): boolean
}

export async function readCurrentState(tx: Stores, projectId: number, source: ImportSource): Promise<CurrentState> {
  const links = await tx.imports.listLinks(projectId, source)
  const flags = await tx.flags.listLive(projectId)
  const schemas = await readSchemas(tx, projectId, flags.length)
  return stateOf(links, flags, await tx.cohorts.listDefinitions(projectId), schemas)
}

/** The payload schema of each flag that has one, by flag id. */
export async function readSchemas(
  tx: Stores,
  projectId: number,
  flags: number,
): Promise<ReadonlyMap<number, JsonSchema>> {
  const { items } = await tx.payloadSchemas.list(projectId, { limit: Math.max(1, flags), offset: 0 })
  return new Map(items.map(({ flagId, schema }) => [flagId, schema]))
}

/** Of a project that does not exist yet. */
export const emptyState = (): CurrentState => stateOf([], [], [], new Map())

function stateOf(
  linked: readonly ImportLink[],
  flags: readonly Flag[],
  definitions: readonly CohortDefinition[],
  schemas: ReadonlyMap<number, JsonSchema>,
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
    lacksType(definition) {
      if (!('flag' in definition) || definition.flag.filters.return_type === undefined) return false
      const current = flagsById.get(linkOf('flag', definition.flag.sourceId)?.flagId ?? 0)
      return current !== undefined && (current.filters.return_type ?? null) === null
    },
    drift(definition) {
      const sourceHash = sourceHashOf(definition)
      if ('flag' in definition) {
        const link = linkOf('flag', definition.flag.sourceId)
        const current = flagsById.get(link?.flagId ?? 0)
        // The last import may have written a payload schema or not.
        const hashes = current ? [flagHash(current), flagHash(current, schemas.get(current.id))] : []
        return driftOf(link, sourceHash, hashes, flagsByKey.has(definition.flag.key))
      }
      const link = linkOf('segment', definition.cohort.sourceId)
      const current = cohorts.get(link?.cohortId ?? 0)
      const filters = current?.filters as Readonly<Record<string, unknown>>
      return driftOf(link, sourceHash, current ? [cohortHash({ ...current, filters })] : [], false)
    },
  }
}
