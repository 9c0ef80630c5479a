import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../../instant.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { type EventCount, type EventCountQuery, type EventCountStore, type Minute, minuteOf } from './event-counts.ts'

const rowsPerInsertMax = 1000

export function sqlEventCounts(db: Kysely<Tables>): EventCountStore {
  function matching(projectId: number, { event, flag, from, to }: EventCountQuery) {
    const query = db
      .selectFrom('event_counts')
      .where('project_id', '=', projectId)
      .where('event', '=', event)
      .where('flag_key', '=', flag?.key ?? '')
      .where('minute', '>=', minuteOf(from))
      .where('minute', '<', minuteOf(to))
    if (!flag) return query
    return flag.value === undefined
      ? query.where('flag_value', '!=', 'false')
      : query.where('flag_value', '=', flag.value)
  }

  return {
    async add(projectId: number, counts: readonly EventCount[]): Promise<void> {
      for (const part of inParts(inOrder(counts), rowsPerInsertMax)) {
        await db
          .insertInto('event_counts')
          .values(
            part.map(({ event, flagKey, flagValue, minute, count }) => ({
              project_id: projectId,
              event,
              flag_key: flagKey,
              flag_value: flagValue,
              minute,
              count,
            })),
          )
          .onConflict(conflict =>
            conflict
              .columns(['project_id', 'event', 'flag_key', 'flag_value', 'minute'])
              .doUpdateSet(({ eb, ref }) => ({ count: eb('event_counts.count', '+', ref('excluded.count')) })),
          )
          .execute()
      }
    },
    async sum(projectId: number, query: EventCountQuery): Promise<number> {
      const row = await matching(projectId, query)
        .select(({ fn }) => fn.sum<number | null>('count').as('total'))
        .executeTakeFirst()
      return Number(row?.total ?? 0)
    },
    async series(
      projectId: number,
      query: EventCountQuery,
    ): Promise<readonly { readonly minute: Minute; readonly count: number }[]> {
      const rows = await matching(projectId, query)
        .select(({ fn }) => ['minute', fn.sum<number>('count').as('total')])
        .groupBy('minute')
        .orderBy('minute')
        .execute()
      return rows.map(row => ({ minute: row.minute, count: Number(row.total) }))
    },
    async listByMinute(
      projectId: number,
      events: readonly string[],
      { from, to }: { readonly from: Minute; readonly to: Minute },
    ): Promise<readonly { readonly event: string; readonly minute: Minute; readonly count: number }[]> {
      const rows = await db
        .selectFrom('event_counts')
        .select(['event', 'minute', 'count'])
        .where('project_id', '=', projectId)
        .where('event', 'in', [...events])
        .where('flag_key', '=', '')
        .where('minute', '>=', from)
        .where('minute', '<', to)
        .execute()
      return rows.map(row => ({ ...row, count: Number(row.count) }))
    },
    async totalsWithFlag(
      projectId: number,
      flagKey: string,
      events: readonly string[],
      { from, to }: { readonly from: Minute; readonly to: Minute },
    ): Promise<readonly { readonly event: string; readonly count: number }[]> {
      const rows = await db
        .selectFrom('event_counts')
        .select(({ fn }) => ['event', fn.sum<number>('count').as('total')])
        .where('project_id', '=', projectId)
        .where('event', 'in', [...events])
        .where('flag_key', '=', flagKey)
        .where('minute', '>=', from)
        .where('minute', '<', to)
        .groupBy('event')
        .execute()
      return rows.map(row => ({ event: row.event, count: Number(row.total) }))
    },
    async listByValue(
      projectId: number,
      { flagKey, event }: { readonly flagKey: string; readonly event: string },
      { from, to }: { readonly from: Minute; readonly to: Minute },
    ): Promise<readonly { readonly value: string; readonly hour: Minute; readonly count: number }[]> {
      const hour = sql<number>`minute - minute % 60`
      const rows = await db
        .selectFrom('event_counts')
        .select(({ fn }) => ['flag_value', hour.as('hour'), fn.sum<number>('count').as('total')])
        .where('project_id', '=', projectId)
        .where('event', '=', event)
        .where('flag_key', '=', flagKey)
        .where('minute', '>=', from)
        .where('minute', '<', to)
        .groupBy(['flag_value', hour])
        .execute()
      return rows.map(row => ({ value: row.flag_value, hour: Number(row.hour), count: Number(row.total) }))
    },
    async listNames(projectId: number, since: Instant): Promise<readonly string[]> {
      const rows = await db
        .selectFrom('event_counts')
        .select('event')
        .distinct()
        .where('project_id', '=', projectId)
        .where('flag_key', '=', '')
        .where('minute', '>=', minuteOf(since))
        .orderBy('event')
        .execute()
      return rows.map(row => row.event)
    },
    async removeBefore(minute: Minute): Promise<number> {
      const result = await db.deleteFrom('event_counts').where('minute', '<', minute).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

/** A fixed lock order, so that two nodes cannot deadlock. */
const inOrder = (counts: readonly EventCount[]): readonly EventCount[] =>
  counts
    .map(count => ({ count, order: [count.event, count.flagKey, count.flagValue, count.minute].join('\u0001') }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .map(({ count }) => count)
