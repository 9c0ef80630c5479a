import type { Instant } from '../../../instant.ts'

/** The day on which each person was last seen in an event; recorded only while persons are removed after some time. */
export interface PersonRetentionStore {
  noteSeen(projectId: number, distinctIds: readonly string[], now: Instant): Promise<void>
  /**
   * Counts the persons after an id as seen now, unless a day is recorded. Returns the last id; undefined when there are none.
   */
  noteUnrecorded(afterId: number, limit: number, now: Instant): Promise<number | undefined>
  /** Removes at most `limit` persons that were not seen since, except members of static cohorts. Returns how many were considered. */
  removeUnseen(before: Instant, limit: number, now: Instant): Promise<number>
  /** Removes at most so many records. Returns how many. */
  forget(limit: number): Promise<number>
}
