import type { Definitions } from '@halyard/engine'

/** What a converter makes of another service's document. Converters are pure: the caller has read and parsed the file. */

export const importSources = [
  'posthog',
  'launchdarkly',
  'unleash',
  'growthbook',
  'flagsmith',
  'flagd',
  'go-feature-flag',
  'flipt',
  'configcat',
] as const

export type ImportSource = (typeof importSources)[number]

/** Throws `ImportFileError` when the document is not one of this service; a single bad item is refused instead. */
export type Converter = (document: unknown, options: ImportOptions) => ImportedProject

export interface ImportOptions {
  /** The environment to convert; needed when the document has several. */
  readonly environment?: string | undefined
  /** How the service's SDKs hash text that is not ASCII; `node` by default. */
  readonly clientLanguage?: 'node' | 'utf-8' | undefined
  /** flagd changed `fractional` between versions, as `0.11.4`. */
  readonly flagdVersion?: string | undefined
  /** The names of the group types that the project has. */
  readonly groupTypes?: readonly string[] | undefined
  /** Archived flags are left out otherwise. */
  readonly includeArchived?: boolean | undefined
}

/** What the flags of a project depend on beside each other. */
export type TargetProject = Pick<Definitions, 'groupTypes' | 'propertyMatchingVersion'>

export interface ImportedProject {
  readonly source: ImportSource
  /** Null when the service or the document has only one. */
  readonly environment: string | null
  /** Only those that were not refused. */
  readonly flags: readonly ImportedFlag[]
  readonly cohorts: readonly ImportedCohort[]
  /** How many archived flags were left out. */
  readonly archived?: number
  /** One for each flag and segment of the document, refused ones included, in the order of the document. */
  readonly items: readonly ImportItem[]
}

export interface ImportedFlag {
  /** Unique among the flags of the document and stable: another import updates the flag with the same source id. */
  readonly sourceId: string
  readonly key: string
  /** The description of the flag. */
  readonly name: string
  readonly active: boolean
  /** As `filters` of the API, with `reference(…)` for the id of a cohort or flag and for the index of a group type. */
  readonly filters: FlagFilters
  readonly tags: readonly string[]
  readonly archived: boolean
  /** Halyard's own fields that the source may set. */
  readonly ensureExperienceContinuity?: boolean
  readonly bucketingIdentifier?: 'distinct_id' | 'device_id' | null
  /** JSON Schema of its payloads. Absent: what is stored here stays. */
  readonly payloadSchema?: Readonly<Record<string, unknown>>
}

export interface ImportedCohort {
  readonly sourceId: string
  readonly name: string
  readonly description?: string
  /** `ids` are distinct ids; `filters` is a tree with `reference(sourceId)` for other cohorts. */
  readonly content: { readonly ids: readonly string[] } | { readonly filters: CohortFilters }
}

export const importStatuses = ['exact', 'approximate', 'refused'] as const
export type ImportStatus = (typeof importStatuses)[number]

export interface ImportItem {
  readonly kind: 'flag' | 'segment'
  /** The key in the document, for people. */
  readonly sourceKey: string
  /** That of the imported flag or cohort; for a refused item, what it would have been. */
  readonly sourceId: string
  /** `exact`: the same value for every context. `approximate`: imported, with the differences that `reasons` names. */
  readonly status: ImportStatus
  /** Why it is not exact, and notes that concern no value. */
  readonly reasons: readonly ImportReason[]
}

/** How many flags have each status. */
export function flagCounts(items: readonly Pick<ImportItem, 'kind' | 'status'>[]): Record<ImportStatus, number> {
  const counts = { exact: 0, approximate: 0, refused: 0 }
  for (const { kind, status } of items) if (kind === 'flag') counts[status]++
  return counts
}

export interface ImportReason {
  /** What it is, and what to do about it. */
  readonly message: string
  /** The place in the document, as `flags.checkout.rules[0].clauses[1].op`. */
  readonly path: string
}

export interface FlagFilters {
  readonly groups: readonly Condition[]
  readonly multivariate?: { readonly variants: readonly Variant[] } | null
  /** By variant key, or `true`: JSON as text. */
  readonly payloads?: Readonly<Record<string, string>>
  /** The type of the payloads, when they are the values for OpenFeature. */
  readonly return_type?: string
  readonly bucketing?: Bucketing
  readonly aggregation_group_type_index?: number | string | null
  readonly [key: string]: unknown
}

export interface Condition {
  readonly properties: readonly Property[]
  readonly rollout_percentage?: number | null
  readonly variant?: string | null
  readonly bucketing?: Bucketing
  readonly split?: Split
  /** The flag is off for the people in this condition. */
  readonly value?: false
  readonly description?: string
  readonly [key: string]: unknown
}

export interface Property {
  readonly key: string
  /** `behavioral` in cohorts that are exported. */
  readonly type: 'person' | 'group' | 'cohort' | 'flag' | 'behavioral'
  readonly operator?: string
  readonly value?: unknown
  /** In cohorts. */
  readonly negation?: boolean
  /** In conditions. */
  readonly inverted?: boolean
  readonly [key: string]: unknown
}

export interface Variant {
  readonly key: string
  readonly name?: string
  readonly rollout_percentage: number
}

export interface Bucketing {
  readonly algorithm: string
  readonly seed?: string
  readonly by?: string
  readonly identifier_prefix?: string
  readonly encoding?: 'utf-8' | 'utf-16' | 'latin-1'
}

export interface Split {
  readonly bucketing?: Bucketing
  /** A part has a variant, or the value of the flag: on or off. */
  readonly variants: readonly (({ readonly variant: string } | { readonly value: boolean }) &
    ({ readonly weight: number } | { readonly range: readonly [number, number] }))[]
}

export interface CohortFilters {
  readonly properties: CohortGroup
}

export interface CohortGroup {
  readonly type: 'AND' | 'OR'
  readonly values: readonly (CohortGroup | Property)[]
}

const referencePrefix = 'source:'

/**
 * Stands for the id of a flag or cohort that has none yet, or for the index of a group type by its name. No id starts like this, so one left
 * behind is an error.
 */
export const reference = (sourceId: string): string => `${referencePrefix}${sourceId}`

/** The source id of a reference; undefined for an id. */
export const sourceIdOf = (text: string): string | undefined =>
  text.startsWith(referencePrefix) ? text.slice(referencePrefix.length) : undefined

export const inCohort = (sourceId: string, operator: 'in' | 'not_in' = 'in'): Property => ({
  key: 'id',
  type: 'cohort',
  operator,
  value: reference(sourceId),
})

export const flagEvaluatesTo = (sourceId: string, value: boolean | string): Property => ({
  key: reference(sourceId),
  type: 'flag',
  operator: 'flag_evaluates_to',
  value,
})

/** The file as a whole cannot be read. */
export class ImportFileError extends Error {
  /** The place in the file: a path, or line and column; empty for the whole file. */
  readonly path: string

  constructor(message: string, path: string) {
    super(message)
    this.name = 'ImportFileError'
    this.path = path
  }
}

/** The file has several environments, and none was chosen. */
export class EnvironmentRequiredError extends ImportFileError {
  readonly environments: readonly string[]

  constructor(environments: readonly string[]) {
    super(`The file has several environments; choose one: ${environments.join(', ')}.`, '')
    this.name = 'EnvironmentRequiredError'
    this.environments = environments
  }
}
