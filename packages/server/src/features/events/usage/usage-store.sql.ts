import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { Day, RecentCalls, UsageIncrement, UsageKind, UsagePoint, UsageRange, UsageStore } from './usage.ts'
import { estimate, thresholdAt } from './user-sample.ts'
import { addUsage, markUsed } from './write-usage.sql.ts'

const seriesPerWriteMax = 1000

/** The counts in the database, and what stays in it when ClickHouse counts. */
export type SqlUsageStore = UsageStore & {
  /** Notes the last uses without counting them. */
  markUsed(projectId: number, increments: readonly UsageIncrement[]): Promise<void>
  /** Last call of each of these flags that was called. */
  lastCalls(projectId: number, flagKeys: readonly string[]): Promise<ReadonlyMap<string, Instant>>
}

export function sqlUsageStore(db: Kysely<Tables>): SqlUsageStore {
  const inRange = (projectId: number, { flagKey, kind, from, to }: UsageRange) =>
    db
      .selectFrom('flag_usage')
      .where('project_id', '=', projectId)
      .where('flag_key', '=', flagKey)
      .where('kind', '=', kind)
      .where('day', '>=', from)
      .where('day', '<=', to)

  const oldSeries = (day: string, limit: number) =>
    db.selectFrom('flag_usage').select('id').where('day', '<', day).orderBy('day').limit(limit)

  async function lastCalls(projectId: number, flagKeys: readonly string[]): Promise<ReadonlyMap<string, Instant>> {
    const rows = await db
      .selectFrom('flag_last_used')
      .select(['flag_key', 'at'])
      .where('project_id', '=', projectId)
      .where('kind', '=', 'called')
      .where('flag_key', 'in', flagKeys)
      .execute()
    return new Map(rows.map(({ flag_key, at }) => [flag_key, at]))
  }

  return {
    isExternal: false,
    lastCalls,
    async markUsed(projectId, increments) {
      for (const part of inParts(increments, seriesPerWriteMax)) await markUsed(db, projectId, part)
    },
    async add(projectId: number, increments: readonly UsageIncrement[]): Promise<void> {
      for (const part of inParts(increments, seriesPerWriteMax)) await addUsage(db, projectId, part)
    },
    async series(projectId: number, range: UsageRange): Promise<readonly UsagePoint[]> {
      const rows = await inRange(projectId, range).selectAll().orderBy('day').orderBy('variant').execute()
      return rows.map(row => ({
        variant: row.variant,
        day: row.day,
        calls: row.calls,
        users: estimate(row.kept_users, row.sampling_level),
      }))
    },
    async uniqueUsers(projectId: number, range: UsageRange): Promise<ReadonlyMap<string, number>> {
      const levels = await inRange(projectId, range)
        .select(({ fn }) => ['variant', fn.max('sampling_level').as('level')])
        .groupBy('variant')
        .execute()
      const usersByVariant = new Map<string, number>()
      // Samples of several days are merged at the highest of their levels, at which all use the same threshold.
      for (const { variant, level } of levels) {
        const { n } = await inRange(projectId, range)
          .where('variant', '=', variant)
          .innerJoin('flag_usage_users', 'flag_usage_users.usage_id', 'flag_usage.id')
          .where('user_hash', '<', thresholdAt(Number(level)))
          .select(({ fn }) => fn.count<number>('user_hash').distinct().as('n'))
          .executeTakeFirstOrThrow()
        if (Number(n) > 0) usersByVariant.set(variant, estimate(Number(n), Number(level)))
      }
      return usersByVariant
    },
    async lastUsed(projectId: number, kind: UsageKind): Promise<ReadonlyMap<string, Instant>> {
      const rows = await db
        .selectFrom('flag_last_used')
        .select(['flag_key', 'at'])
        .where('project_id', '=', projectId)
        .where('kind', '=', kind)
        .execute()
      return new Map(rows.map(row => [row.flag_key, row.at]))
    },
    async lastCalledKeys(projectId: number, limit: number): Promise<readonly string[]> {
      const rows = await db
        .selectFrom('flag_last_used')
        .select('flag_key')
        .where('project_id', '=', projectId)
        .where('kind', '=', 'called')
        .orderBy('at', 'desc')
        .orderBy('flag_key')
        .limit(limit)
        .execute()
      return rows.map(row => row.flag_key)
    },
    async recentCalls(
      projectId: number,
      flagKeys: readonly string[],
      from: Day,
    ): Promise<ReadonlyMap<string, RecentCalls>> {
      if (flagKeys.length === 0) return new Map()
      const last = await lastCalls(projectId, flagKeys)
      const days = await db
        .selectFrom('flag_usage')
        .select(({ fn }) => ['flag_key', 'day', fn.sum<number>('calls').as('calls')])
        .where('project_id', '=', projectId)
        .where('kind', '=', 'called')
        .where('flag_key', 'in', flagKeys)
        .where('day', '>=', from)
        .groupBy(['flag_key', 'day'])
        .execute()
      const callsByFlag = new Map(
        [...last].map(([flagKey, lastAt]) => [flagKey, { lastAt, byDay: new Map<string, number>() }]),
      )
      for (const { flag_key, day, calls } of days) callsByFlag.get(flag_key)?.byDay.set(day, Number(calls))
      return callsByFlag
    },
    async removeUsersBefore(day: Day, limit: number): Promise<number> {
      const ids = await oldSeries(day, limit)
        .where(({ exists, selectFrom }) =>
          exists(selectFrom('flag_usage_users').select('usage_id').whereRef('usage_id', '=', 'flag_usage.id')),
        )
        .execute()
      for (const { id } of ids) await db.deleteFrom('flag_usage_users').where('usage_id', '=', id).execute()
      return ids.length
    },
    async removeBefore(day: Day, limit: number): Promise<number> {
      const ids = await oldSeries(day, limit).execute()
      for (const { id } of ids) await db.deleteFrom('flag_usage').where('id', '=', id).execute()
      return ids.length
    },
  }
}
