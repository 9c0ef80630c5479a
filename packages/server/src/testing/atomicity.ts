import type { Kysely } from 'kysely'
import { expect } from 'vitest'
import type { Tables } from '../storage/tables.generated.ts'
import type { FaultInjector } from './failing-statement.ts'
import type { Reply, Scenario } from './scenario.ts'

/** How many rows of a table a request adds, changes or removes. */
export type Effects = Readonly<Partial<Record<keyof Tables, number>>>

/**
 * Repeats a write request while its first, second, third… statement fails, until it succeeds. After every failure the tables must hold what
 * they held before, and in the end exactly the given numbers of rows differ. Returns the successful reply.
 */
export async function expectAtomic(
  s: Scenario,
  injector: FaultInjector,
  effects: Effects,
  request: () => Promise<Reply>,
): Promise<Reply> {
  const tables = Object.keys(effects) as (keyof Tables)[]
  const before = await dump(s.halyard.storage.kysely, tables)
  for (let n = 1; ; n++) {
    injector.failAt(n)
    const reply = await request()
    const wasReached = injector.disarm()
    const after = await dump(s.halyard.storage.kysely, tables)
    if (reply.status < 300) {
      const differing = Object.fromEntries(tables.map(table => [table, difference(before[table]!, after[table]!)]))
      expect(differing).toEqual(effects)
      return reply
    }
    expect(wasReached, reply.text).toBe(true)
    expect(reply.status).toBeGreaterThanOrEqual(500)
    expect(after).toEqual(before)
  }
}

async function dump(db: Kysely<Tables>, tables: readonly (keyof Tables)[]): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {}
  for (const table of tables) {
    const all = await db.selectFrom(table).selectAll().execute()
    rows[table] = all.map(row => JSON.stringify(row)).sort()
  }
  return rows
}

/** A changed row counts once, although its old and its new text differ. */
function difference(before: readonly string[], after: readonly string[]): number {
  const missing = (rows: readonly string[], from: readonly string[]) => {
    const present = new Set(from)
    return rows.filter(row => !present.has(row)).length
  }
  return Math.max(missing(before, after), missing(after, before))
}

/** What saving one flag writes; the change log gets one row, too. */
export const savedFlags = (count: number) =>
  ({ flags: count, flag_versions: count, activity: count, changes: count, dashboards: 0 }) satisfies Effects
