import type { Kysely } from 'kysely'
import type { CountedEvent } from '../../../domain/counted-event.ts'
import type { Instant } from '../../../instant.ts'
import { preparedQuery } from '../../../storage/prepared-query.ts'
import type { Tables } from '../../../storage/tables.generated.ts'

const liveEvents = preparedQuery((db, { projectId }: { projectId: number }) =>
  db
    .selectFrom('counted_events as live')
    .leftJoin('counted_events as history', 'history.history_of', 'live.id')
    .select(['live.id', 'live.name', 'live.counted_since', 'history.id as history_id'])
    .where('live.project_id', '=', projectId)
    .where('live.ended_at', 'is', null),
)

/** A history is never live. */
const never = '9999-12-31T23:59:59.999999Z'

/** The events that are counted for behavioral filters. */
export function sqlCountedEventStore(db: Kysely<Tables>) {
  return {
    /** By name. */
    async listLive(projectId: number): Promise<ReadonlyMap<string, CountedEvent>> {
      const { rows } = await liveEvents(db, { projectId })
      return new Map(
        rows.map(({ id, name, counted_since, history_id }) => [
          name,
          {
            ...{ id: Number(id), name, countedSince: counted_since },
            historyId: history_id === null ? undefined : Number(history_id),
          },
        ]),
      )
    },
    /** Starts to count events that are not counted yet. Their histories will be read when there is a day from which they are complete. */
    async add(
      projectId: number,
      names: readonly string[],
      now: Instant,
      historyFrom: string | undefined,
    ): Promise<void> {
      if (names.length === 0) return
      const row = { project_id: projectId, counted_since: now }
      const added = await db
        .insertInto('counted_events')
        .values(names.map(name => ({ ...row, name, ended_at: null })))
        .returning(['id', 'name'])
        .execute()
      if (historyFrom === undefined) return
      await db
        .insertInto('counted_events')
        .values(
          added.map(({ id, name }) => ({
            ...{ ...row, name, ended_at: never, history_of: id },
            ...{ history_from: historyFrom, read_ids: 0 },
          })),
        )
        .execute()
    },
    /** From now on they are not counted. Their counts are not used again. */
    async end(eventIds: readonly number[], now: Instant): Promise<void> {
      if (eventIds.length === 0) return
      await db.updateTable('counted_events').set({ ended_at: now }).where('id', 'in', eventIds).execute()
    },
    /** The ids of live events and of histories of all projects after an id, in order. */
    async listIds(afterId: number, limit: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('counted_events')
        .select('id')
        .where('id', '>', afterId)
        .where(eb => eb.or([eb('ended_at', 'is', null), eb('history_of', 'is not', null)]))
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
    /** An event that ended before an instant; never a history. */
    async findEnded(before: Instant): Promise<number | undefined> {
      const row = await db
        .selectFrom('counted_events')
        .select('id')
        .where('ended_at', '<', before)
        .orderBy('ended_at')
        .limit(1)
        .executeTakeFirst()
      return row?.id
    },
    /** With its history. */
    async remove(eventId: number): Promise<void> {
      await db.deleteFrom('counted_events').where('id', '=', eventId).execute()
    },
  }
}
