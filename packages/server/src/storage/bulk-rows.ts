import { type Insertable, type Kysely, sql } from 'kysely'
import { inParts } from './in-batches.ts'
import { isSqlite, type PreparedQuery, preparedQuery } from './prepared-query.ts'
import type { Tables } from './tables.generated.ts'

/**
 * Writes many rows of one table, all with the same columns. On PostgreSQL a round trip per row would be slow, so rows travel as one JSON
 * parameter; SQLite has no round trips, and prepared statements for a few rows.
 */

type Table = keyof Tables & string
type Columns = Readonly<Record<string, unknown>>

/** Rows per statement on PostgreSQL. */
const rowsAtOnceMax = 500
/** Rows per insert on SQLite; fewer are inserted one by one. */
const rowsPerInsert = 16

export async function insertRows<T extends Table>(
  db: Kysely<Tables>,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<void> {
  if (!isSqlite(db)) {
    for (const part of inParts(rows, rowsAtOnceMax)) await insertPart(table, part).execute(db)
    return
  }
  await insertIntoSqlite(db, table, rows)
}

/** For a table with generated ids, which are returned in the order of the rows. */
export async function insertRowsWithIds<T extends Table>(
  db: Kysely<Tables>,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<number[]> {
  if (isSqlite(db)) return insertIntoSqlite(db, table, rows)
  const ids: number[] = []
  for (const part of inParts(rows, rowsAtOnceMax)) {
    const inserted = await sql<{ id: number }>`${insertPart(table, part)} returning id`.execute(db)
    // Rows get their ids from a sequence in the order of the array.
    ids.push(...inserted.rows.map(({ id }) => id).sort((a, b) => a - b))
  }
  return ids
}

/** Sets the columns of each row by its id and returns how many rows there were; `version` is that of the stored rows plus one. */
export async function updateRows<T extends Table>(
  db: Kysely<Tables>,
  table: T,
  rows: readonly (Columns & { readonly id: number })[],
  { isVersioned }: { readonly isVersioned: boolean },
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  let updated = 0
  if (isSqlite(db)) {
    const update = updateRow(table, first, isVersioned)
    for (const row of rows) updated += Number((await update(db, row)).numAffectedRows ?? 0)
    return updated
  }
  for (const part of inParts(rows, rowsAtOnceMax)) {
    const columns = Object.keys(part[0]!).filter(column => column !== 'id')
    const changes = columns.map(column => sql`${sql.ref(column)} = sent.${sql.ref(column)}`)
    const stored = isVersioned ? sql` and ${sql.table(table)}.version = sent.version - 1` : sql``
    const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.join(changes)}
      from ${recordsOf(table, part)} as sent where ${sql.table(table)}.id = sent.id${stored}`.execute(db)
    updated += Number(numAffectedRows ?? 0)
  }
  return updated
}

const insertPart = (table: Table, rows: readonly object[]) => {
  const columns = sql.join(Object.keys(rows[0]!).map(column => sql.ref(column)))
  return sql`insert into ${sql.table(table)} (${columns}) select ${columns} from ${recordsOf(table, rows)} as sent`
}

/** The table's own row type gives every column its type. */
const recordsOf = (table: Table, rows: readonly object[]) =>
  sql`json_populate_recordset(null::${sql.table(table)}, cast(${JSON.stringify(rows)} as json))`

const statements = new Map<string, PreparedQuery<object, unknown>>()

/** One statement for each table and list of columns; there are as many as callers. */
function prepared(name: string, build: Parameters<typeof preparedQuery<object, unknown>>[0]) {
  const cached = statements.get(name)
  if (cached) return cached
  const statement = preparedQuery(build)
  statements.set(name, statement)
  return statement
}

/** Kysely cannot type statements on a table that is a parameter; callers are held to the table's columns. */
type AnyTable = Kysely<{ rows: { id: number; version: number } }>
const anyTable = (db: Kysely<Tables>): AnyTable => db as unknown as AnyTable

/** Returns the ids, which follow one another within a statement. */
async function insertIntoSqlite(db: Kysely<Tables>, table: Table, rows: readonly object[]): Promise<number[]> {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  const insertOne = insertStatement(table, columns, 1)
  const insertSeveral = insertStatement(table, columns, rowsPerInsert)
  const names = Array.from({ length: rowsPerInsert }, (_, index) => columns.map(column => `${index} ${column}`))
  const ids: number[] = []
  for (const part of inParts(rows, rowsPerInsert)) {
    const groups = part.length === rowsPerInsert ? [part] : part.map(row => [row])
    for (const group of groups) {
      const values: Record<string, unknown> = {}
      for (const [index, row] of group.entries()) {
        for (const [n, column] of columns.entries()) values[names[index]![n]!] = (row as Columns)[column]
      }
      const { insertId } = await (group.length === 1 ? insertOne : insertSeveral)(db, values)
      for (let index = 1 - group.length; index <= 0; index++) ids.push(Number(insertId) + index)
    }
  }
  return ids
}

/** The parameters are named `<row> <column>`. */
const insertStatement = (table: Table, columns: readonly string[], count: number) =>
  prepared(`insert ${table} ${count} ${columns.join()}`, (db, parameters) => {
    const values = Array.from({ length: count }, (_, index) =>
      Object.fromEntries(columns.map(column => [column, (parameters as Columns)[`${index} ${column}`]])),
    )
    return anyTable(db)
      .insertInto(table as 'rows')
      .values(values as never)
  })

const updateRow = (table: Table, row: object, isVersioned: boolean) =>
  prepared(`update ${table} ${isVersioned} ${Object.keys(row).join()}`, (db, parameters) => {
    const { id, ...columns } = parameters as { id: number; version: number }
    const query = anyTable(db)
      .updateTable(table as 'rows')
      .set(columns as never)
      .where('id', '=', id)
    return isVersioned ? query.where(sql<boolean>`version = cast(${columns.version} as integer) - 1`) : query
  })
