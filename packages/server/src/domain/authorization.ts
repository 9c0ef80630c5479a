import type { Actor } from '../tenancy.ts'
import type { FreeObject } from './flag.ts'

declare const granted: unique symbol

/**
 * Proof that policies and freezes allow a change: without it no flag and no existing cohort can be saved. Only
 * `change-control/authorize.ts` makes one; the symbol keeps others from writing it down.
 */
export interface Authorization {
  readonly [granted]: true
  /** On what grounds, for the activity entry. */
  readonly trigger: FreeObject | null
}

/** As much of an HTTP request as decides about a write. */
export interface WriteRequest {
  readonly actor: Actor
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}
