import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Storage } from '../../storage/open-storage.ts'
import { openSqlite } from '../../storage/sqlite/sqlite-connection.ts'
import { CommandError } from '../usage.ts'

/** A server has the file open: what it writes from now on would not be where people look for it. */
export function refuseFileInUse(path: string): void {
  let isInUse = false
  try {
    const handle = openSqlite(path)
    try {
      handle.exec('pragma busy_timeout = 200; pragma locking_mode = exclusive; begin immediate; rollback')
    } catch (error) {
      isInUse = /locked/.test((error as Error).message)
    } finally {
      handle.close()
    }
  } catch {
    // A damaged file is what a restore is for.
  }
  if (isInUse) throw new CommandError(`${path} is in use. Stop Halyard first.`)
}

/** So long PostgreSQL may take to notice that a program which has ended is gone. */
const leaveMillisecondsMax = 10_000
const lookAgainMilliseconds = 250

/** The same for PostgreSQL, where nodes are known by the name of their connections. */
export async function refuseWhileServed({ pool, kysely }: Storage): Promise<void> {
  if (!pool) return
  const deadline = performance.now() + leaveMillisecondsMax
  while ((await othersIn(kysely)) > 0) {
    if (performance.now() > deadline)
      throw new CommandError('Halyard still uses this database. Stop all of its nodes first.')
    await wait(lookAgainMilliseconds)
  }
}

async function othersIn(kysely: Storage['kysely']): Promise<number> {
  try {
    const { rows } = await sql<{ count: number | string }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name in ('halyard', 'halyard-changes')
    `.execute(kysely)
    return Number(rows[0]?.count ?? 0)
  } catch {
    // Not every PostgreSQL-compatible database lists its connections.
    return 0
  }
}
