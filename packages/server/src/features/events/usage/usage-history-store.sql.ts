import type { Kysely } from 'kysely'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { Day, UsageKind } from './usage.ts'
import { estimate } from './user-sample.ts'

/** Reads the usage of all projects that the database has counted, to copy it elsewhere. */
export function sqlUsageHistoryStore(db: Kysely<Tables>) {
  return {
    /** Number of series and of calls of each day since this one. */
    async totalsByDay(from: Day): Promise<ReadonlyMap<Day, { readonly series: number; readonly calls: number }>> {
      const rows = await db
        .selectFrom('flag_usage')
        .select(({ fn }) => ['day', fn.countAll<number>().as('series'), fn.sum<number>('calls').as('calls')])
        .where('day', '>=', from)
        .groupBy('day')
        .orderBy('day')
        .execute()
      return new Map(rows.map(({ day, series, calls }) => [day, { series: Number(series), calls: Number(calls) }]))
    },
    async listSeries(day: Day, afterId: number, limit: number) {
      const rows = await db
        .selectFrom('flag_usage')
        .selectAll()
        .where('day', '=', day)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(row => ({
        id: row.id,
        ...{ project: row.project_id, flag: row.flag_key, kind: row.kind as UsageKind, day, variant: row.variant },
        calls: row.calls,
        users: estimate(row.kept_users, row.sampling_level),
      }))
    },
    /** The user hashes of a series that are still stored. */
    async listUsers(seriesId: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('flag_usage_users')
        .select('user_hash')
        .where('usage_id', '=', seriesId)
        .orderBy('user_hash')
        .execute()
      return rows.map(row => row.user_hash)
    },
  }
}
