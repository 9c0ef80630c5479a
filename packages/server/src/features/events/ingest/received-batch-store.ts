import type { Instant } from '../../../instant.ts'

/** Ids of recorded batches, so that a batch that is sent twice is recorded once. */
export interface ReceivedBatchStore {
  /** The subset of these ids that is stored. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** False when the id was stored already. Concurrent transactions that add the same id block. */
  add(id: string, at: Instant): Promise<boolean>
  /** Returns the number of removed ids. */
  removeBefore(at: Instant): Promise<number>
}

/** Older events are never counted, so a batch that is resent later than this has no effect. */
export const receivedBatchDaysMax = 31
