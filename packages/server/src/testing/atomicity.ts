import type { Kysely } from 'kysely'
import { expect } from 'vitest'
import type { Tables } from '../storage/tables.ts'
import type { FaultInjector } from './failing-statement.ts'
import type { Reply, Scenario } from './scenario.ts'

/**
 * Repeats a write request while its first, second, third… statement fails, until it succeeds. After every failure the tables must be
 * unchanged; after the success exactly `written` rows of each table must be added, changed or removed. Returns the successful reply.
 */
export async function expectAtomic(
  s: Scenario,
  injector: FaultInjector,
  tables: readonly (keyof Tables)[],
  written: Readonly<Partial<Record<keyof Tables, number>>>,
  request: () => Promise<Reply>,
): Promise<Reply> {
  const before = await dump(s.halyard.storage.kysely, tables)
  for (let n = 1; ; n++) {
    injector.failAt(n)
    const reply = await request()
    const wasReached = injector.disarm()
    if (reply.status < 300) {
      expect(n).toBeGreaterThan(5)
      expect(writtenRows(before, await dump(s.halyard.storage.kysely, tables))).toEqual(written)
      return reply
    }
    expect(wasReached, reply.text).toBe(true)
    expect(reply.status).toBeGreaterThanOrEqual(500)
    expect(await dump(s.halyard.storage.kysely, tables)).toEqual(before)
  }
}

type Dump = Readonly<Record<string, readonly string[]>>

/** Number of rows that differ, by table; tables without a difference are omitted. */
function writtenRows(before: Dump, after: Dump): Record<string, number> {
  const absentIn = (rows: readonly string[] = []) => {
    const known = new Set(rows)
    return (row: string) => !known.has(row)
  }
  const counts = Object.entries(after).map(([table, rows]) => {
    const added = rows.filter(absentIn(before[table])).length
    const removed = (before[table] ?? []).filter(absentIn(rows)).length
    return [table, Math.max(added, removed)] as const
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

async function dump(db: Kysely<Tables>, tables: readonly (keyof Tables)[]): Promise<Dump> {
  const rows: Record<string, string[]> = {}
  for (const table of tables) {
    const all = await db.selectFrom(table).selectAll().execute()
    rows[table] = all.map(row => JSON.stringify(row)).sort()
  }
  return rows
}

/** The tables that every change of a flag writes. */
export const flagTables = ['flags', 'flag_versions', 'activity', 'changes', 'dashboards'] as const
