import type { Project } from '../tenancy.ts'
import type { IncomingEvent } from './event.ts'

/** What stands between receiving an event and learning from it: the project's plugins, if there are any. */
export interface EventPipeline {
  /** False when nothing would be done to the project's events, so that they need not be taken through. */
  handles(project: Project): boolean
  /** The event as it is to be counted and learnt from; null drops it on purpose. Never raises: a failing step is skipped. */
  transform(project: Project, event: IncomingEvent): Promise<IncomingEvent | null>
  /** Told after the events are durable. Returns at once. */
  deliver(project: Project, events: readonly IncomingEvent[]): void
}

/** Nothing is changed and nobody is told. */
export const plainPipeline: EventPipeline = {
  handles: () => false,
  transform: async (_project, event) => event,
  deliver: () => {},
}
