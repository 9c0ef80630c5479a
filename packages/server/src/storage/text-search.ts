import { type RawBuilder, sql } from 'kysely'
import { foldFunction } from './fold-case.ts'

/** Whether a column contains a text, in any case. */
export const contains = (column: string, text: string): RawBuilder<boolean> => matches(column, likePattern(text))

/** Whether a column contains texts in this order, with anything between them. */
export const containsInOrder = (column: string, texts: readonly string[]): RawBuilder<boolean> =>
  matches(column, `%${texts.map(escaped).join('%')}%`)

/** Both sides are folded by the database, so that they always agree. */
const matches = (column: string, pattern: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(foldFunction)}(${sql.ref(column)}) like ${sql.raw(foldFunction)}(${pattern}) escape '\\'`

/** The same as text, for statements that are not built with Kysely; the parameter is a `likePattern`. */
export const containsParameter = (column: string, parameter: string): string =>
  `${foldFunction}(${column}) like ${foldFunction}(${parameter}) escape '\\'`

/** The pattern of `like … escape '\'` that finds a text anywhere. */
export const likePattern = (text: string): string => `%${escaped(text)}%`

const escaped = (text: string): string => text.replace(/[\\%_]/g, character => `\\${character}`)
