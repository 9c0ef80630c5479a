import { appendWithin, type Backlog, type EventsDatabase } from '../clickhouse/clickhouse-stores.ts'
import type { PerformedEvents } from '../clickhouse/performed-events.ts'

/**
 * The record of what persons do, from which the histories of events are read that cohorts name later. Without ClickHouse nothing is
 * recorded.
 */
export function personEventStore(events: EventsDatabase | undefined, backlog: () => Backlog) {
  const isRecorded = events?.client.url.recordsPersonEvents ?? false
  return {
    isRecorded,
    add(project: number, performed: readonly PerformedEvents[]): void {
      if (events && isRecorded) appendWithin(events, backlog(), { project, usage: [], minutes: [], performed })
    },
  }
}
