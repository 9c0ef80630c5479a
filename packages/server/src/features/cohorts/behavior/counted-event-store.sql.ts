import type { Kysely } from 'kysely'
import type { CountedEvent } from '../../../domain/counted-event.ts'
import type { Instant } from '../../../instant.ts'
import { preparedQuery } from '../../../storage/prepared-query.ts'
import type { Tables } from '../../../storage/tables.generated.ts'

const liveEvents = preparedQuery((db, { projectId }: { projectId: number }) =>
  db
    .selectFrom('counted_events')
    .select(['id', 'name', 'counted_since'])
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null),
)

/** The events that are counted for behavioral filters. */
export function sqlCountedEventStore(db: Kysely<Tables>) {
  return {
    /** By name. */
    async listLive(projectId: number): Promise<ReadonlyMap<string, CountedEvent>> {
      const { rows } = await liveEvents(db, { projectId })
      return new Map(
        rows.map(({ id, name, counted_since }) => [name, { id: Number(id), name, countedSince: counted_since }]),
      )
    },
    /** Starts to count events that are not counted yet. */
    async add(projectId: number, names: readonly string[], now: Instant): Promise<void> {
      if (names.length === 0) return
      await db
        .insertInto('counted_events')
        .values(names.map(name => ({ project_id: projectId, name, counted_since: now, ended_at: null })))
        .execute()
    },
    /** From now on they are not counted. Their counts are not used again. */
    async end(eventIds: readonly number[], now: Instant): Promise<void> {
      if (eventIds.length === 0) return
      await db.updateTable('counted_events').set({ ended_at: now }).where('id', 'in', eventIds).execute()
    },
    /** The ids of live events of all projects after an id, in order. */
    async listIds(afterId: number, limit: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('counted_events')
        .select('id')
        .where('id', '>', afterId)
        .where('ended_at', 'is', null)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
    /** An event that ended before an instant. */
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
    async remove(eventId: number): Promise<void> {
      await db.deleteFrom('counted_events').where('id', '=', eventId).execute()
    },
  }
}
