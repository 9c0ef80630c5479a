import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite } from './prepared-query.ts'
import type { Tables } from './tables.generated.ts'

/**
 * A column, for a condition in addition to ids. Without statistics SQLite assumes ten rows per project and prefers the project's index to a
 * look-up of a dozen ids. An expression, although it changes nothing, rules that index out.
 */
export const unindexed = <T = number>(column: string): RawBuilder<T> => sql<T>`coalesce(${sql.ref(column)}, null)`

/** The same for tables that PostgreSQL may have partitioned by this column: it must be able to choose the partition. */
export const partitionColumn = (db: Kysely<Tables>, column: string): RawBuilder<number> =>
  isSqlite(db) ? unindexed(column) : sql<number>`${sql.ref(column)}`
