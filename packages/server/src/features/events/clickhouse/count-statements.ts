import type { Minute } from '../usage/event-counts.ts'
import type { Day, UsageKind, UsageRange } from '../usage/usage.ts'
import { literal } from './clickhouse-client.ts'
import { tables } from './schema.ts'

/**
 * The queries, in SQL that every release since 18.16 accepts. A row that was sent twice may be stored twice until the next merge: the inner
 * query takes one row per block.
 */
export function countStatements(database: string) {
  const inRange = (projectId: number, { flagKey, kind, from, to }: UsageRange) =>
    `project = ${number(projectId)} AND flag = ${literal(flagKey)} AND kind = ${literal(kind)} AND ${days(from, to)}`

  return {
    /** variant, day, calls, users as migrated. */
    calls: (projectId: number, range: UsageRange) =>
      `SELECT variant, toString(day) AS date, sum(n) AS calls, sum(m) AS users FROM (
        SELECT variant, day, block, max(calls) AS n, max(migrated_users) AS m FROM ${database}.${tables.usage}
        WHERE ${inRange(projectId, range)} GROUP BY variant, day, block
      ) GROUP BY variant, day ORDER BY day, variant`,
    /** variant, day, users. */
    usersByDay: (projectId: number, range: UsageRange) =>
      `SELECT variant, toString(day) AS date, uniqArrayMerge(users) AS n FROM ${database}.${tables.users}
      WHERE ${inRange(projectId, range)} GROUP BY variant, day`,
    /** variant, users. */
    users: (projectId: number, range: UsageRange) =>
      `SELECT variant, uniqArrayMerge(users) AS n FROM ${database}.${tables.users}
      WHERE ${inRange(projectId, range)} GROUP BY variant`,
    /** flag, day, calls. */
    callsOfFlags: (projectId: number, kind: UsageKind, flagKeys: readonly string[], from: Day) =>
      `SELECT flag, toString(day) AS date, sum(n) AS calls FROM (
        SELECT flag, day, variant, block, max(calls) AS n FROM ${database}.${tables.usage}
        WHERE project = ${number(projectId)} AND flag IN (${flagKeys.map(literal).join(', ')})
          AND kind = ${literal(kind)} AND day >= ${date(from)}
        GROUP BY flag, day, variant, block
      ) GROUP BY flag, day`,
    /** event, minute, events. */
    minutes: (projectId: number, events: readonly string[], from: Minute, to: Minute) =>
      `SELECT event, minute, sum(n) AS counted FROM (
        SELECT event, minute, block, max(events) AS n FROM ${database}.${tables.minutes}
        WHERE project = ${number(projectId)} AND event IN (${events.map(literal).join(', ')})
          AND ${days(dayOfMinute(from), dayOfMinute(to))} AND minute >= ${number(from)} AND minute < ${number(to)}
        GROUP BY event, minute, block
      ) GROUP BY event, minute`,
    /** user, day, events that were not counted live in an epoch. */
    personEvents: (
      projectId: number,
      { event, epoch, from }: { readonly event: string; readonly epoch: number; readonly from: Day },
      users: readonly number[],
    ) =>
      `SELECT user_hash, toString(day) AS date, sum(n) AS counted FROM (
        SELECT user_hash, day, epoch, block, max(events) AS n FROM ${database}.${tables.personEvents}
        WHERE project = ${number(projectId)} AND event = ${literal(event)} AND user_hash IN (${users.join(', ')})
          AND epoch != ${number(epoch)} AND day >= ${date(from)}
        GROUP BY user_hash, day, epoch, block
      ) GROUP BY user_hash, day`,
    /** day, series, calls of a block. */
    totalsOfBlock: (block: string, from: Day) =>
      `SELECT toString(day) AS date, count() AS series, sum(n) AS calls FROM (
        SELECT project, flag, kind, day, variant, max(calls) AS n FROM ${database}.${tables.usage}
        WHERE block = ${literal(block)} AND day >= ${date(from)} GROUP BY project, flag, kind, day, variant
      ) GROUP BY day`,
    /** table, partition. */
    partitions: () =>
      `SELECT DISTINCT table, partition FROM system.parts WHERE database = ${literal(database)} AND active`,
    dropPartition: (table: string, month: string) => `ALTER TABLE ${database}.${table} DROP PARTITION ${month}`,
    version: () => 'SELECT version()',
    tables: () => `SELECT name FROM system.tables WHERE database = ${literal(database)}`,
  }
}

const number = (value: number): string => String(Math.trunc(value))

/** Dates beyond these wrap around in old releases. */
const [firstDay, lastDay] = ['1970-01-01', '2105-12-31']
const date = (day: Day): string => `toDate(${literal(day < firstDay ? firstDay : day > lastDay ? lastDay : day)})`

const days = (from: Day, to: Day): string => `day >= ${date(from)} AND day <= ${date(to)}`

export const dayOfMinute = (minute: Minute): Day => new Date(minute * 60_000).toISOString().slice(0, 10)
