import { instantOf } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import { type EventCountStore, eventCountDaysMax, minuteOf } from '../usage/event-counts.ts'
import type { UsageStore } from '../usage/usage.ts'
import type { SqlUsageStore } from '../usage/usage-store.sql.ts'
import type { ClickHouseClient, Rows } from './clickhouse-client.ts'
import { type CountBatch, countedIn, minuteBatch, usageBatch } from './count-block.ts'
import { countStatements } from './count-statements.ts'

/** One day less than is stored, as older ones may be removed already. */
const databaseMinutes = (eventCountDaysMax - 1) * 24 * 60

/** What stores need of ClickHouse. */
export interface EventsDatabase {
  readonly client: ClickHouseClient
  readonly readMillisecondsMax: number
  /** Bounds what waits for ClickHouse. */
  readonly backlog: {
    readonly isFull: boolean
    noteDropped(counted: number): void
  }
}

export interface Backlog {
  append(batch: CountBatch): void
}

export function appendWithin(events: EventsDatabase, backlog: Backlog, batch: CountBatch): void {
  if (batch.usage.length === 0 && batch.minutes.length === 0 && !batch.performed?.length) return
  if (events.backlog.isFull) events.backlog.noteDropped(countedIn(batch))
  else backlog.append(batch)
}

/** Raises `unavailable` when ClickHouse does not respond in time. */
async function read(
  { client, readMillisecondsMax }: EventsDatabase,
  statement: (statements: ReturnType<typeof countStatements>) => string,
): Promise<Rows> {
  try {
    return await client.query(statement(countStatements(client.url.database)), readMillisecondsMax)
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw new Problem('unavailable', 'Counts cannot be read: ClickHouse does not respond. Everything else works.', {
      code: 'counts_unavailable',
      retryAfterSeconds: 5,
      cause,
    })
  }
}

/**
 * Counts in ClickHouse. The last use of a flag stays in the database: it is one small row per flag, and archiving a flag and its status must
 * not depend on ClickHouse.
 */
export function clickHouseUsageStore(sql: SqlUsageStore, events: EventsDatabase, backlog: Backlog): UsageStore {
  return {
    isExternal: true,
    async add(projectId, increments) {
      await sql.markUsed(projectId, increments)
      appendWithin(events, backlog, usageBatch(projectId, increments))
    },
    async series(projectId, range) {
      const [calls, users] = await Promise.all([
        read(events, statements => statements.calls(projectId, range)),
        read(events, statements => statements.usersByDay(projectId, range)),
      ])
      const counted = new Map(users.map(([variant, day, n]) => [`${day}\u0001${variant}`, Number(n)]))
      return calls.map(([variant, day, n, migrated]) => ({
        variant: String(variant),
        day: String(day),
        calls: Number(n),
        users: Math.max(counted.get(`${day}\u0001${variant}`) ?? 0, Number(migrated)),
      }))
    },
    async uniqueUsers(projectId, range) {
      const rows = await read(events, statements => statements.users(projectId, range))
      return new Map(rows.filter(([, n]) => Number(n) > 0).map(([variant, n]) => [String(variant), Number(n)]))
    },
    lastUsed: sql.lastUsed,
    lastCalledKeys: sql.lastCalledKeys,
    async recentCalls(projectId, flagKeys, from) {
      if (flagKeys.length === 0) return new Map()
      const last = await sql.lastCalls(projectId, flagKeys)
      if (last.size === 0) return new Map()
      const days = await read(events, statements =>
        statements.callsOfFlags(projectId, 'called', [...last.keys()], from),
      )
      const callsByFlag = new Map([...last].map(([key, lastAt]) => [key, { lastAt, byDay: new Map<string, number>() }]))
      for (const [flag, day, n] of days) callsByFlag.get(String(flag))?.byDay.set(String(day), Number(n))
      return callsByFlag
    },
    removeUsersBefore: sql.removeUsersBefore,
    removeBefore: sql.removeBefore,
  }
}

/**
 * Counts in both. The database keeps the counts of eight days, from which rollback conditions and charts read without ClickHouse; older
 * ones are read from ClickHouse.
 */
export function clickHouseEventCounts(sql: EventCountStore, events: EventsDatabase, backlog: Backlog): EventCountStore {
  return {
    ...sql,
    async add(projectId, counts) {
      await sql.add(projectId, counts)
      appendWithin(events, backlog, minuteBatch(projectId, counts))
    },
    async listByMinute(projectId, names, { from, to }) {
      if (from >= minuteOf(instantOf(new Date())) - databaseMinutes)
        return sql.listByMinute(projectId, names, { from, to })
      const rows = await read(events, statements => statements.minutes(projectId, names, from, to))
      return rows.map(([event, minute, n]) => ({ event: String(event), minute: Number(minute), count: Number(n) }))
    },
  }
}
