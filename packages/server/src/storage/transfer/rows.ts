import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { DialectName } from '../migrations/migration.ts'
import type { Tables } from '../tables.generated.ts'
import type { TableShape } from './table-shapes.ts'

export type Row = Readonly<Record<string, unknown>>
type Database = Kysely<Tables>

const pageRowsMax = 500
/** SQLite takes 32,766 parameters in one statement, PostgreSQL 65,535. */
const parametersMax = 30_000

/** The rows of a table in the order of its key, in pages, from after a key on. */
export async function* pagesOf(
  db: Database,
  shape: TableShape,
  after?: readonly unknown[],
  where = sql<boolean>`1 = 1`,
): AsyncGenerator<readonly Row[]> {
  const columns = sql.join(shape.columns.map(column => sql.ref(column)))
  const key = sql.join(shape.key.map(column => sql.ref(column)))
  let last = after
  for (;;) {
    const beyond = last ? sql`(${key}) > (${sql.join(last)})` : sql`1 = 1`
    const { rows } =
      await sql<Row>`select ${columns} from ${sql.table(shape.name)} where ${beyond} and ${where} order by ${key} limit ${sql.lit(pageRowsMax)}`.execute(
        db,
      )
    if (rows.length > 0) yield rows
    if (rows.length < pageRowsMax) return
    last = keyOf(shape, rows.at(-1)!)
  }
}

export const keyOf = (shape: TableShape, row: Row): readonly unknown[] => shape.key.map(column => row[column])

export async function insertRows(db: Database, shape: TableShape, rows: readonly Row[]): Promise<void> {
  const step = Math.max(1, Math.floor(parametersMax / shape.columns.length))
  for (let start = 0; start < rows.length; start += step) {
    const values = rows
      .slice(start, start + step)
      .map(row => sql`(${sql.join(shape.columns.map(column => row[column] ?? null))})`)
    const columns = sql.join(shape.columns.map(column => sql.ref(column)))
    await sql`insert into ${sql.table(shape.name)} (${columns}) values ${sql.join(values)}`.execute(db)
  }
}

export async function countRows(db: Database, shape: TableShape): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(shape.name)}`.execute(db)
  return Number(rows[0]?.count)
}

/** Generated ids continue after the highest imported one. SQLite does that automatically. */
export async function continueNumbering(db: Database, dialect: DialectName, shape: TableShape): Promise<void> {
  if (dialect === 'sqlite' || shape.key.length !== 1 || shape.key[0] !== 'id') return
  const { rows } = await sql<{
    name: string | null
  }>`select pg_get_serial_sequence(${shape.name}, 'id') as name`.execute(db)
  if (!rows[0]?.name) return
  await sql`select setval(${rows[0].name}, coalesce((select max(id) from ${sql.table(shape.name)}), 0) + 1, false)`.execute(
    db,
  )
}

export interface Fingerprint {
  readonly rows: number
  readonly checksum: string
}

/** The same for the same content, whichever database holds it. */
export async function fingerprint(db: Database, shape: TableShape, where = sql<boolean>`1 = 1`): Promise<Fingerprint> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const page of pagesOf(db, shape, undefined, where)) {
    for (const row of page) hash.update(JSON.stringify(shape.columns.map(column => row[column] ?? null))).update('\n')
    rows += page.length
  }
  return { rows, checksum: hash.digest('hex') }
}
