import { type Kysely, sql } from 'kysely'
import { isReferenceBroken, isRowRefused, uniqueViolation } from '../driver-error.ts'
import type { Tables } from '../tables.generated.ts'
import { type ExportedRow, lineError } from './read-export.ts'
import { insertRows, type Row } from './rows.ts'
import { missingReference } from './stored-references.ts'
import type { TableShape } from './table-shapes.ts'

type Database = Kysely<Tables>

const batchRowsMax = 500
const progressRows = 5000

interface Batched {
  readonly row: Row
  /** In the file. */
  readonly line: number
}

/** Inserts rows in batches; `prepare` is called with each batch before. `end` returns the number of inserted rows. */
export function createBatch(
  db: Database,
  onProgress: (text: string) => void,
  prepare: (shape: TableShape, rows: readonly Batched[]) => Promise<readonly Row[]> = async (_, rows) =>
    rows.map(({ row }) => row),
) {
  let current: TableShape | undefined
  let waiting: Batched[] = []
  let ofTable = 0
  let all = 0

  async function flush(): Promise<void> {
    if (!current || waiting.length === 0) return
    const lines = waiting.map(({ line }) => line)
    const rows = await prepare(current, waiting)
    waiting = []
    await insertLines(db, current, rows, lines)
    all += rows.length
    ofTable += rows.length
    if (ofTable % progressRows === 0) onProgress(`${current.name}: ${ofTable} rows`)
  }
  async function startTable(shape: TableShape | undefined): Promise<void> {
    await flush()
    if (current && ofTable % progressRows !== 0) onProgress(`${current.name}: ${ofTable} rows`)
    current = shape
    ofTable = 0
  }
  return {
    async add({ shape, row, line }: ExportedRow): Promise<void> {
      if (current !== shape) await startTable(shape)
      else if (waiting.length >= batchRowsMax) await flush()
      waiting.push({ row, line })
    },
    async end(): Promise<number> {
      await startTable(undefined)
      return all
    },
  }
}

/** When the database refuses a batch, the rows are inserted one by one, to name the first that is wrong. Raises ImportError. */
async function insertLines(db: Database, shape: TableShape, rows: readonly Row[], lines: readonly number[]) {
  await sql`savepoint batch`.execute(db)
  try {
    await insertRows(db, shape, rows)
  } catch (error) {
    if (!isRowRefused(error)) throw error
    await sql`rollback to savepoint batch`.execute(db)
    for (const [index, row] of rows.entries()) {
      await sql`savepoint line`.execute(db)
      await insertRows(db, shape, [row]).catch(async refusal => {
        await sql`rollback to savepoint line`.execute(db)
        throw lineError(lines[index]!, await describeRefusal(db, shape, row, refusal), refusal)
      })
    }
    throw error
  }
  await sql`release savepoint batch`.execute(db)
}

async function describeRefusal(db: Database, shape: TableShape, row: Row, refusal: Error): Promise<string> {
  if (isReferenceBroken(refusal)) {
    for (const { column, table, to } of shape.references) {
      const value = row[column] ?? null
      if (value === null) continue
      const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.ref(to)} = ${value}`.execute(db)
      if (rows.length === 0) return missingReference(shape, column, table, value)
    }
  }
  const place = uniqueViolation(refusal)
  if (place === undefined) return `The database refuses this row of ${shape.name}: ${refusal.message}.`
  const named = /^Key \((.*?)\)=/.exec(String((refusal as { detail?: unknown }).detail))?.[1] ?? place
  return `Another row of ${shape.name} has the same ${named.replaceAll(`${shape.name}.`, '')}.`
}
