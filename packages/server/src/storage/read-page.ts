import type { SelectQueryBuilder, Simplify } from 'kysely'
import type { PageOf, Window } from '../pagination.ts'

/**
 * One window of an ordered query, and how many rows it has in all: two queries, to be run in one transaction. Where rows can be counted more
 * cheaply than by the query itself, which joins what it shows, the caller says how.
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
