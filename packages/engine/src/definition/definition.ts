/** The stored definitions of a project. `filters` is unknown here: only `parse-filters.ts` knows its shape. */

export interface FlagDefinition {
  readonly id: number
  readonly key: string
  readonly active: boolean
  readonly version?: number
  readonly filters: unknown
  readonly ensureExperienceContinuity?: boolean
  readonly bucketingIdentifier?: 'distinct_id' | 'device_id' | null
  readonly hasExperiment?: boolean
  /** The result for every subject, instead of what the filters say. */
  readonly override?: OverrideDefinition
}

export interface OverrideDefinition {
  /** Whether the flag is on, or the key of a variant. */
  readonly value: boolean | string
  /** JSON text, or null. */
  readonly payload: string | null
}

export interface CohortDefinition {
  readonly id: number
  readonly name?: string
  readonly isStatic: boolean
  /** `{properties: {type, values}}` or the bare tree `{type, values}`. */
  readonly filters: unknown
}

export interface Definitions {
  readonly flags: readonly FlagDefinition[]
  readonly cohorts: readonly CohortDefinition[]
  /** The name of each group type by its index, `'0'` to `'4'`. */
  readonly groupTypes: Readonly<Record<string, string>>
  readonly propertyMatchingVersion: 1 | 2
}

export interface Matcher {
  /** The number of instructions of the compiled pattern. A match takes at most this many steps for each character. */
  readonly size: number
  test(text: string): boolean
}

export interface EngineOptions {
  /** Compiles a pattern, and throws when it cannot run it. It must match in linear time, as RE2 does. */
  readonly regex: (pattern: string) => Matcher
}

/** The person and groups that flags are evaluated for. The caller has done all I/O beforehand. */
export interface Subject {
  readonly distinctId: string
  readonly personProperties?: Readonly<Record<string, unknown>>
  /** The key of the subject's group, by the name of the group type. */
  readonly groups?: Readonly<Record<string, string | number>>
  readonly groupProperties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly deviceId?: string
  readonly anonDistinctId?: string
  /** The stored hash key by flag key, for flags with experience continuity. */
  readonly hashKeyOverrides?: Readonly<Record<string, string>>
  readonly inStaticCohort?: (cohortId: number) => boolean
  /** What the person has performed, by event name. An event without an entry was never performed. */
  readonly events?: Readonly<Record<string, EventHistory>>
}

/** How often a person has performed an event. Days are calendar days in UTC, counted from 1970-01-01. */
export interface EventHistory {
  /** Also when it is older than every window. */
  readonly firstDay: number
  /** At least the days of the longest window, in any order. */
  readonly days: readonly (readonly [day: number, count: number])[]
}
