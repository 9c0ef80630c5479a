import type { Instant } from '../../instant.ts'

/**
 * What has changed, published after commit. Inside a transaction a use case appends to the change log (an outbox table with a
 * sequence); after commit every node reads the log from its own position. A lost notification costs latency, never correctness.
 */
export type ChangeTopic =
  | 'flag'
  | 'cohort'
  | 'project'
  | 'identity'
  | 'access'
  | 'schedule'
  | 'plugin'
  | 'change_request'
  | 'sdk'
  /** Stored persons: their ids, separated by commas, or `*`. New ones are not announced. */
  | 'person'
  /** A stored group. */
  | 'group'

export interface Change {
  readonly sequence: number
  readonly topic: ChangeTopic
  readonly organizationId: string | null
  readonly projectId: number | null
  readonly entityId: string
  readonly at: Instant
}

export type NewChange = Omit<Change, 'sequence'>

export type ChangeListener = (changes: readonly Change[]) => void | Promise<void>

export interface ChangeFeed {
  /**
   * Listeners are called in order, one batch at a time; what they throw is logged and harms no other listener. When changes were missed,
   * because the log no longer has them or the database failed over, `reset` is called first: anything may have changed.
   */
  subscribe(listener: ChangeListener, reset: () => void | Promise<void>): () => void
  /** The change that was read last. A new listener receives all that follow. */
  newest(): Change | undefined
  /** Reads and delivers everything committed before the call. Rejects at once while the database is known to be unavailable. */
  catchUp(): Promise<void>
}
