import type { CohortDefinition } from '@halyard/engine'
import type { Instant } from '../instant.ts'
import type { User } from '../tenancy.ts'

export type FreeObject = Readonly<Record<string, unknown>>

/** A named set of persons: a dynamic cohort is defined by properties, a static one is a list. */
export interface Cohort extends CohortContent {
  readonly id: number
  readonly projectId: number
  readonly isStatic: boolean
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
  readonly calculation: Calculation
}

/** The writable fields. */
export interface CohortContent {
  readonly name: string
  readonly description: string
  /** `{properties: {type, values}}`; `{}` for a static cohort. */
  readonly filters: FreeObject
  readonly deleted: boolean
}

export type CohortPatch = { readonly [Field in keyof CohortContent]?: CohortContent[Field] | undefined }

/** The number of members, and the state of counting or filling. */
export interface Calculation {
  /** Null until the first calculation. */
  readonly count: number | null
  readonly lastCalculation: Instant | null
  /** Number of consecutive failures. */
  readonly errors: number
  readonly lastError: string | null
  /** Undefined when no job is queued or running. */
  readonly job: { readonly processed: number; readonly total: number | null } | undefined
  /** The events that its behavioral filters name, by name; empty when it is deleted. */
  readonly countedEvents: readonly CountedEventOfCohort[]
}

interface CountedEventOfCohort {
  readonly event: string
  readonly countedSince: Instant
  /** What ClickHouse knows from before: the first day of which it has everything, and how much of it has been read. */
  readonly history: { readonly from: string; readonly percent: number } | undefined
}

export const notCalculated: Calculation = {
  count: null,
  lastCalculation: null,
  errors: 0,
  lastError: null,
  job: undefined,
  countedEvents: [],
}

export const contentOf = ({ name, description, filters, deleted }: CohortContent): CohortContent => ({
  name,
  description,
  filters,
  deleted,
})

/** Fields in the patch replace stored ones as a whole. */
export function applyPatch(content: CohortContent, patch: CohortPatch): CohortContent {
  const sent = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  return { ...content, ...sent }
}

export const cohortDefinition = (cohort: Pick<Cohort, 'id' | 'name' | 'isStatic' | 'filters'>): CohortDefinition => ({
  id: cohort.id,
  name: cohort.name,
  isStatic: cohort.isStatic,
  filters: cohort.filters,
})

export interface CohortFilter {
  /** Part of the name, case-insensitive. */
  readonly search?: string
  readonly isStatic?: boolean
  readonly deleted: boolean
}
