import type { Definitions, Outcome } from '@halyard/engine'

/** Whom to go through: the persons of a project, or its groups of one type. */
export type Target =
  | { readonly kind: 'persons' }
  | { readonly kind: 'groups'; readonly typeIndex: number; readonly type: string }

/** One flag in its surroundings: those that it uses. Two versions of a flag are two questions. */
export interface Question {
  readonly definitions: Definitions
  readonly key: string
}

/** Questions that are answered for everybody. */
export interface ScanRequest {
  readonly projectId: number
  readonly target: Target
  readonly questions: readonly Question[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Counts everybody, as of one moment. */
export interface TallyRequest extends ScanRequest {
  readonly kind: 'tally'
  /** The positions of two questions: name a few for whom the one is off and the other on, and the other way round. */
  readonly samples?: { readonly before: number; readonly after: number; readonly max: number }
}

/** How many got these outcomes together, in the order of the questions. */
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

/** Somebody in a sample: the id of the row, the key of a group, and what the flag is before and after. */
export interface Sampled {
  readonly id: number
  readonly identity: string | undefined
  readonly before: boolean | string
  readonly after: boolean | string
}

/** Goes through everybody in short reads, each as of its own moment, and tells for whom the first question's flag is on. */
export interface WalkRequest extends ScanRequest {
  readonly kind: 'walk'
  /** Begins behind this id; undefined means at the very beginning. */
  readonly after?: number
  readonly descending: boolean
  /** Only those with this text in an id or a property. */
  readonly search?: string
}

export interface WalkStep {
  /** The last row that was looked at. */
  readonly last: number
  readonly looked: number
  /** Ids of those for whom the flag is on. */
  readonly on: readonly number[]
}
