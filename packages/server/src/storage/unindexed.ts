import { type RawBuilder, sql } from 'kysely'

/**
 * A column, for a condition in addition to ids. Without statistics SQLite assumes ten rows per project and prefers the project's index to a
 * look-up of a dozen ids. An expression, although it changes nothing, rules that index out.
 */
export const unindexed = <T = number>(column: string): RawBuilder<T> => sql<T>`coalesce(${sql.ref(column)}, null)`
