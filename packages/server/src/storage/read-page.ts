import type { SelectQueryBuilder, Simplify } from 'kysely'
import type { PageOf, Window } from '../pagination.ts'

/**
 * One page of an ordered query, and the total: two queries, to be run in one transaction. `count` replaces the count of the query where a
 * cheaper one, without its joins, exists.
 */
export async function readPage<Tables, From extends keyof Tables, Row, Item>(
  query: SelectQueryBuilder<Tables, From, Row>,
  window: Window,
  toItem: (row: Simplify<Row>) => Item,
  count: () => Promise<number> = () => countRows(query),
): Promise<PageOf<Item>> {
  const total = await count()
  const rows = await query.limit(window.limit).offset(window.offset).execute()
  return { count: total, items: rows.map(toItem) }
}

export async function countRows<Tables, From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
): Promise<number> {
  const counted = await query
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number((counted as { count: number }).count)
}
