import { type Kysely, sql } from 'kysely'
import type { DialectName } from '../migrations/migration.ts'
import type { Tables } from '../tables.generated.ts'

const numbersAtOnceMax = 10_000

/**
 * Ids that no row of the table has or ever had, ascending, and reserved for the caller. SQLite has one writer at a time, so there they
 * follow the highest; PostgreSQL assigns them one by one.
 */
export async function takeNumbers(
  tx: Kysely<Tables>,
  dialect: DialectName,
  table: string,
  count: number,
): Promise<readonly number[]> {
  if (dialect === 'sqlite') {
    const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(tx)
    const last = rows[0]?.seq ?? 0
    return Array.from({ length: count }, (_, index) => last + 1 + index)
  }
  const numbers: number[] = []
  while (numbers.length < count) {
    const wanted = Math.min(numbersAtOnceMax, count - numbers.length)
    const { rows } = await sql<{
      n: number
    }>`select nextval(pg_get_serial_sequence(${table}, 'id')) as n from generate_series(1, ${wanted})`.execute(tx)
    for (const { n } of rows) numbers.push(Number(n))
  }
  return numbers.sort((a, b) => a - b)
}
