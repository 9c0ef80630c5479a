import { type CohortDefinition, type Definitions, type FlagDefinition, usesCohorts } from '@halyard/engine'

/** The definitions of a project, as `GET /flags/definitions?send_cohorts` returns them. */
export interface DefinitionsDocument {
  readonly flags: readonly unknown[]
  readonly cohorts?: Readonly<Record<string, unknown>>
  readonly group_type_mapping?: Readonly<Record<string, string>>
  readonly property_matching_version?: number
}

/** A flag with what the engine does not need to know about it. */
export interface ReceivedFlag {
  readonly definition: FlagDefinition
  /** Whether SDKs on servers get it. */
  readonly isForServers: boolean
  /** To find out whether it has changed, and to store it. */
  readonly json: string
}

/** Raises `InvalidDefinitions` when the value is not a document of definitions. */
export function readDocument(value: unknown): DefinitionsDocument {
  if (!isRecord(value) || !Array.isArray(value.flags)) throw new InvalidDefinitions('The definitions have no `flags`.')
  return value as unknown as DefinitionsDocument
}

/** Definitions that cannot be used. They are rejected as a whole: without some of its flags, a project would be another one. */
export class InvalidDefinitions extends Error {
  override readonly name = 'InvalidDefinitions'
}

/** Raises `InvalidDefinitions` for anything that is not a flag. */
export function readFlag(value: unknown): ReceivedFlag {
  if (!isRecord(value) || typeof value.id !== 'number' || typeof value.key !== 'string') {
    throw new InvalidDefinitions('The definitions contain an entry that is not a flag: it needs `id` and `key`.')
  }
  const { bucketing_identifier: bucketing } = value
  return {
    definition: {
      id: value.id,
      key: value.key,
      active: value.active === true,
      filters: value.filters,
      // PostHog's SDKs leave some flags to the server that the engine can evaluate; continuity is then not the reason.
      ensureExperienceContinuity: value.ensure_experience_continuity === true && value.evaluates_in_process !== true,
      bucketingIdentifier: bucketing === 'device_id' || bucketing === 'distinct_id' ? bucketing : null,
      ...(typeof value.version === 'number' && { version: value.version }),
    },
    isForServers: value.evaluation_runtime !== 'client',
    json: JSON.stringify(value),
  }
}

/** Everything except the flags. */
export type Surroundings = Omit<Definitions, 'flags'>

/**
 * The members of a static cohort are known to the server only, which leaves these cohorts out. A cohort that is missing therefore
 * counts as static: flags that use it are left to the server.
 */
export function readSurroundings(document: DefinitionsDocument, flags: Iterable<ReceivedFlag>): Surroundings {
  const sent = isRecord(document.cohorts) ? document.cohorts : {}
  const cohorts: CohortDefinition[] = Object.entries(sent).map(([id, filters]) => ({
    id: Number(id),
    isStatic: false,
    filters,
  }))
  const used = new Set(cohorts.flatMap(({ filters }) => usesCohorts(filters)))
  for (const { definition } of flags) for (const id of usesCohorts(definition.filters)) used.add(id)
  for (const id of used) if (!Object.hasOwn(sent, String(id))) cohorts.push({ id, isStatic: true, filters: {} })
  return {
    cohorts,
    groupTypes: isRecord(document.group_type_mapping) ? (document.group_type_mapping as Record<string, string>) : {},
    propertyMatchingVersion: document.property_matching_version === 2 ? 2 : 1,
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
