import type { Kysely } from 'kysely'
import { expect } from 'vitest'
import type { Tables } from '../storage/tables.ts'
import type { FaultInjector } from './failing-statement.ts'
import type { Reply, Scenario } from './scenario.ts'

/**
 * Repeats a write request while its first, second, third… statement fails, until it succeeds. After every failure the tables must be
 * unchanged. Returns the successful reply.
 */
export async function expectAtomic(
  s: Scenario,
  injector: FaultInjector,
  tables: readonly (keyof Tables)[],
  request: () => Promise<Reply>,
): Promise<Reply> {
  const before = await dump(s.halyard.storage.kysely, tables)
  for (let n = 1; ; n++) {
    injector.failAt(n)
    const reply = await request()
    const wasReached = injector.disarm()
    if (reply.status < 300) {
      expect(n).toBeGreaterThan(5)
      return reply
    }
    expect(wasReached, reply.text).toBe(true)
    expect(reply.status).toBeGreaterThanOrEqual(500)
    expect(await dump(s.halyard.storage.kysely, tables)).toEqual(before)
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

/** The tables that every change of a flag writes. */
export const flagTables = ['flags', 'flag_versions', 'activity', 'changes', 'dashboards'] as const
