import type { Definitions, Outcome } from '@halyard/engine'

/** What to scan: the persons of a project, or its groups of one type. */
export type Target =
  | { readonly kind: 'persons' }
  | { readonly kind: 'groups'; readonly typeIndex: number; readonly type: string }

/** A flag to evaluate, with the definitions it depends on. Two versions of a flag are two queries. */
export interface FlagQuery {
  readonly definitions: Definitions
  readonly key: string
}

/** Evaluates flags for every subject of the target. */
export interface ScanRequest {
  readonly projectId: number
  readonly target: Target
  readonly queries: readonly FlagQuery[]
  /** Unix time in milliseconds. */
  readonly now: number
  /** The ids of the counts of the events that are counted in the project, by name; added by the scanner. */
  readonly countedEvents?: ReadonlyMap<string, readonly number[]>
}

/** Counts all subjects in one snapshot of the database. */
export interface TallyRequest extends ScanRequest {
  readonly kind: 'tally'
  /** Positions of two queries: samples subjects for which one flag is off and the other on, and vice versa. */
  readonly samples?: { readonly before: number; readonly after: number; readonly max: number }
}

/** Number of subjects with this combination of outcomes, in the order of the queries. */
export interface TallyLine {
  readonly outcomes: readonly Outcome[]
  readonly count: number
}

export interface Tally {
  readonly total: number
  readonly lines: readonly TallyLine[]
  readonly gained: readonly Sampled[]
  readonly lost: readonly Sampled[]
}

/** A sampled subject: row id, group key, and the flag's value before and after. */
export interface Sampled {
  readonly id: number
  readonly identity: string | undefined
  readonly before: boolean | string
  readonly after: boolean | string
}

/** Iterates over all subjects in short reads, without a common snapshot, and reports for which the first query's flag is on. */
export interface WalkRequest extends ScanRequest {
  readonly kind: 'walk'
  /** Starts after this id; undefined starts at the beginning. */
  readonly after?: number
  readonly descending: boolean
  /** Only subjects with this text in an id or a property. */
  readonly search?: string
}

export interface WalkStep {
  /** Id of the last row evaluated. */
  readonly last: number
  readonly scanned: number
  /** Ids of the subjects for which the flag is on. */
  readonly on: readonly number[]
}
