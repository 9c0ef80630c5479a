import { type RawBuilder, sql } from 'kysely'

/**
 * A column, for a condition that comes on top of ids. Without figures about its tables SQLite believes that a project has ten rows, and would
 * rather read all rows of the project than look up a dozen ids. An expression, although it changes nothing, keeps it from the project's index.
 */
export const unindexed = <T = number>(column: string): RawBuilder<T> => sql<T>`coalesce(${sql.ref(column)}, null)`
