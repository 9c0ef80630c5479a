import type { Instant } from '../../../instant.ts'

/** How often a password was wrong, for an account or from an address, since the first time within the window. */
export interface SignInFailures {
  readonly key: string
  readonly count: number
  readonly since: Instant
}

/** Wrong passwords on all nodes. Failures outside the window do not count, nor those that a wrong clock dated ahead. */
export interface SignInFailureStore {
  /** The keys that have failures in the window. */
  find(keys: readonly string[], window: SignInWindow): Promise<readonly SignInFailures[]>
  /** Adds one failure to each key; returns the new counts. */
  add(keys: readonly string[], window: SignInWindow): Promise<readonly SignInFailures[]>
  remove(key: string): Promise<void>
  removeOutside(window: SignInWindow): Promise<void>

  /** When the last sign-in with this key (an account and an address) succeeded. */
  findSuccess(key: string): Promise<Instant | undefined>
  recordSuccess(key: string, at: Instant): Promise<void>
  removeSuccessesBefore(at: Instant): Promise<void>
}

export interface SignInWindow {
  readonly now: Instant
  readonly from: Instant
  readonly to: Instant
}
