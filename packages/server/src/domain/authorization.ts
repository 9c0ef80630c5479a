import type { FreeObject } from '../features/flags/flag.ts'

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
