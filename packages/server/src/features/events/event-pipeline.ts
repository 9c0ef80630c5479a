import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { IncomingEvent } from './event.ts'

/** What stands between receiving an event and learning from it: the project's plugins, if there are any. */
export interface EventPipeline {
  /** False when nothing would be done to the project's events, so that they need not be taken through. */
  handles(project: Project): boolean
  /** The event as it is to be counted and learnt from; null drops it on purpose. Never raises: a failing step is skipped. */
  transform(project: Project, event: IncomingEvent): Promise<IncomingEvent | null>
  /**
   * Notes who is to be told of events, in the transaction that makes them durable. Answers what begins to tell them, to be called when it has
   * committed; if nobody gets to call it, they are told later all the same.
   */
  keep(tx: Stores, project: Project, events: readonly IncomingEvent[], now: Instant): Promise<() => void>
}

/** Nothing is changed and nobody is told. */
export const plainPipeline: EventPipeline = {
  handles: () => false,
  transform: async (_project, event) => event,
  keep: async () => () => {},
}
