import type { Instant } from '../../../instant.ts'

/** Which batches have been recorded, so that one that is sent again is not counted again. */
export interface ReceivedBatchStore {
  /** Which of these are there. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** False when it was there already. Whoever adds the same one at the same time waits. */
  add(id: string, at: Instant): Promise<boolean>
  /** Answers how many were forgotten. */
  removeBefore(at: Instant): Promise<number>
}

/** Older events are not counted at all, so that a batch that comes again later than this does no harm. */
export const receivedBatchDaysMax = 31
