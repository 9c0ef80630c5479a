import { type RawBuilder, sql } from 'kysely'
import { foldFunction } from './fold-case.ts'

/** Whether a column contains a text, in any case. Both sides are folded by the database, so that they always agree. */
export const contains = (column: string, text: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(foldFunction)}(${sql.ref(column)}) like ${sql.raw(foldFunction)}(${likePattern(text)}) escape '\\'`

/** The same as text, for statements that are not built with Kysely; the parameter is a `likePattern`. */
export const containsParameter = (column: string, parameter: string): string =>
  `${foldFunction}(${column}) like ${foldFunction}(${parameter}) escape '\\'`

/** The pattern of `like … escape '\'` that finds a text anywhere. */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, found => `\\${found}`)}%`
