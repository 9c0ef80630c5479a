import type { Instant } from '../instant.ts'

/** An event that behavioral filters of a project name. It is counted for each person and day. */
export interface CountedEvent {
  readonly id: number
  readonly name: string
  readonly countedSince: Instant
}

/** The events that are counted in a project, by name. */
export type FindCountedEvents = (projectId: number) => Promise<ReadonlyMap<string, CountedEvent>>
