import type { Instant } from '../instant.ts'

/** An event that behavioral filters of a project name. It is counted for each person and day. */
export interface CountedEvent {
  readonly id: number
  readonly name: string
  readonly countedSince: Instant
  /** What persons did before is counted under this id; undefined without ClickHouse. */
  readonly historyId?: number | undefined
}

/** The events that are counted in a project, by name. */
export type FindCountedEvents = (projectId: number) => Promise<ReadonlyMap<string, CountedEvent>>

/** A counted event has its own counts and those of its history. */
export const countIdsOf = ({ id, historyId }: CountedEvent): readonly number[] =>
  historyId === undefined ? [id] : [id, historyId]

const idsPerSecond = 2 ** 20

/**
 * Marks in ClickHouse which events were counted live under this row. The id alone would come again in a database that was restored from a
 * backup.
 */
export const epochOf = ({ id, countedSince }: Pick<CountedEvent, 'id' | 'countedSince'>): number =>
  Math.floor(Date.parse(countedSince) / 1000) * idsPerSecond + (id % idsPerSecond)
