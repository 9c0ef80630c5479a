import type { Instant } from '../../../instant.ts'

/** How often a password was wrong, for an account or from an address, since the first time within the window. */
export interface SignInFailures {
  readonly key: string
  readonly count: number
  readonly since: Instant
}

/** Wrong passwords of all nodes. What is not within the window does not count, nor what a wrong clock has dated ahead. */
export interface SignInFailureStore {
  /** Those of the keys that count. */
  find(keys: readonly string[], window: SignInWindow): Promise<readonly SignInFailures[]>
  /** Counts one more for each key; answers what is counted then. */
  add(keys: readonly string[], window: SignInWindow): Promise<readonly SignInFailures[]>
  forget(key: string): Promise<void>
  /** Forgets what no longer counts. */
  removeOutside(window: SignInWindow): Promise<void>
}

export interface SignInWindow {
  readonly from: Instant
  readonly to: Instant
}
