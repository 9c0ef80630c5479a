import type { IncomingEvent } from '../../domain/event.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

/** Runs a project's plugins on its events, between receiving and recording them. */
export interface EventPipeline {
  /** False when no plugin handles the project's events, so that callers can skip `transform`. */
  handles(project: Project): boolean
  /** The event to record; null drops it on purpose. Never throws: a failing step is skipped. */
  transform(project: Project, event: IncomingEvent): Promise<IncomingEvent | null>
  /**
   * Stores the pending deliveries of events in the transaction that records them. Returns a function that starts delivery, to be
   * called after the commit; if the process dies before that, the deliveries are picked up later.
   */
  keep(tx: Stores, project: Project, events: readonly IncomingEvent[], now: Instant): Promise<() => void>
}
