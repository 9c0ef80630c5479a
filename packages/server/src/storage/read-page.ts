import type { SelectQueryBuilder, Simplify } from 'kysely'
import type { PageOf, Window } from '../page.ts'

/** One window of an ordered query, and how many rows it has in all: two queries, to be run in one transaction. */
export async function readPage<Tables, From extends keyof Tables, Row, Item>(
  query: SelectQueryBuilder<Tables, From, Row>,
  window: Window,
  toItem: (row: Simplify<Row>) => Item,
): Promise<PageOf<Item>> {
  const counted = await query
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const rows = await query.limit(window.limit).offset(window.offset).execute()
  return { count: Number((counted as { count: number }).count), items: rows.map(toItem) }
}
