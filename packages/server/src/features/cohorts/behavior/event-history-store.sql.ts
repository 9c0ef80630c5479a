import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { EventHistoryReading, HistoryProgress } from './event-history.ts'

/** How far the histories of counted events have been read from ClickHouse. */
export function sqlEventHistoryStore(db: Kysely<Tables>) {
  return {
    /** The id of the history of an event. */
    async findId(eventId: number): Promise<number | undefined> {
      const row = await db
        .selectFrom('counted_events')
        .select('id')
        .where('history_of', '=', eventId)
        .executeTakeFirst()
      return row?.id
    },
    /** Of the live events of a project, by name. */
    async listProgress(projectId: number): Promise<ReadonlyMap<string, HistoryProgress>> {
      const rows = await db
        .selectFrom('counted_events as live')
        .innerJoin('counted_events as history', 'history.history_of', 'live.id')
        .select(['live.name', 'history.history_from', 'history.read_ids', 'history.total_ids', 'history.read_at'])
        .where('live.project_id', '=', projectId)
        .where('live.ended_at', 'is', null)
        .execute()
      return new Map(
        rows.map(({ name, history_from, read_ids, total_ids, read_at }) => [
          name,
          { from: history_from!, percent: percentOf(read_ids ?? 0, total_ids, read_at !== null) },
        ]),
      )
    },
    /** Those of live events that are not complete, after an id and in order. */
    async listUnread(afterId: number, limit: number): Promise<readonly EventHistoryReading[]> {
      const rows = await db
        .selectFrom('counted_events as history')
        .innerJoin('counted_events as live', 'live.id', 'history.history_of')
        .select(['live.id', 'live.project_id', 'live.name', 'live.counted_since', 'history.id as history_id'])
        .select(['history.read_after', 'history.read_ids', 'history.total_ids'])
        .where('history.history_of', 'is not', null)
        .where('history.read_at', 'is', null)
        .where('history.id', '>', afterId)
        .where('live.ended_at', 'is', null)
        .orderBy('history.id')
        .limit(limit)
        .execute()
      return rows.map(row => ({
        projectId: row.project_id,
        event: { id: row.id, name: row.name, countedSince: row.counted_since, historyId: row.history_id },
        historyId: row.history_id,
        after: row.read_after ?? '',
        ids: row.read_ids ?? 0,
        totalIds: row.total_ids,
      }))
    },
    async advance({ historyId, after, ids, totalIds }: EventHistoryReading): Promise<void> {
      await db
        .updateTable('counted_events')
        .set({ read_after: after, read_ids: ids, total_ids: totalIds })
        .where('id', '=', historyId)
        .execute()
    },
    async finish(historyId: number, now: Instant): Promise<void> {
      await db.updateTable('counted_events').set({ read_at: now }).where('id', '=', historyId).execute()
    },
  }
}

/** Ids that come while a history is read make it no more than almost complete. */
const percentOf = (ids: number, totalIds: number | null, isComplete: boolean): number =>
  isComplete ? 100 : totalIds === null ? 0 : Math.min(99, Math.floor((100 * ids) / Math.max(1, totalIds)))
