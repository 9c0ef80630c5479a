import type { Instant } from '../../instant.ts'

export interface ShadowCount {
  readonly flagId: number
  readonly agree: number
  readonly differ: number
  /** Evaluations that Halyard failed to make; they are not compared. */
  readonly failed: number
  /** One of the evaluations that differ. */
  readonly example: ShadowExample | null
}

export interface ShadowExample {
  readonly there: unknown
  readonly here: unknown
  readonly distinctId: string
}

export interface ShadowTotals {
  readonly agree: number
  readonly differ: number
  readonly failed: number
  /** First day with comparisons. */
  readonly since: string | null
  readonly lastDifference: (ShadowExample & { readonly at: Instant }) | null
}
