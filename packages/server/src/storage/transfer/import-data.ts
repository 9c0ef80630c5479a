import type { Kysely } from 'kysely'
import { schemaVersion } from '../migrate.ts'
import type { Storage } from '../open-storage.ts'
import type { Tables } from '../tables.ts'
import type { ExportEnd, ExportHeader, ExportLine } from './export-data.ts'
import { continueNumbering, countRows, insertRows, type Row } from './rows.ts'
import { type TableShape, tableShapes } from './table-shapes.ts'

/** What is wrong with the file or its target, in a sentence. */
export class ImportError extends Error {}

const batchRowsMax = 500
/** A new database has these by itself. */
const filledByMigrations = new Set(['change_head'])

/** Brings an export into an empty database, in one transaction: all of it or nothing. Answers the number of rows. Raises ImportError. */
export async function importData(storage: Storage, lines: AsyncIterable<string>): Promise<number> {
  const shapes = new Map((await tableShapes()).map(shape => [shape.name, shape]))
  return storage.kysely.transaction().execute(async tx => {
    await refuseUnlessEmpty(tx, shapes)
    const batch = createBatch(tx)
    let rows = 0
    let hasHeader = false
    let end: ExportEnd['end'] | undefined
    for await (const text of lines) {
      if (text.trim() === '') continue
      const line = parse(text)
      if (!hasHeader) {
        checkHeader(line as ExportHeader, await schemaVersion(tx))
        hasHeader = true
      } else if ('end' in line) {
        end = line.end
      } else {
        const { table, row, json } = line as ExportLine
        const shape = shapes.get(table)
        if (!shape) throw new ImportError(`The export has rows of a table "${table}" that this Halyard does not know.`)
        await batch.add(shape, closed(row, json))
        rows += 1
      }
    }
    await batch.flush()
    if (!end || end.rows !== rows)
      throw new ImportError(
        `The export is not complete: it has ${rows} rows and should have ${end?.rows ?? 'an end'}. Nothing was imported.`,
      )
    for (const shape of shapes.values()) await continueNumbering(tx, storage.dialect, shape)
    return rows
  })
}

async function refuseUnlessEmpty(tx: Kysely<Tables>, shapes: ReadonlyMap<string, TableShape>): Promise<void> {
  for (const shape of shapes.values()) {
    if (filledByMigrations.has(shape.name)) await tx.deleteFrom(shape.name as 'change_head').execute()
    else if ((await countRows(tx, shape)) > 0)
      throw new ImportError(
        `The database is not empty (${shape.name} has rows). Import into a new one: set DATABASE_URL to it.`,
      )
  }
}

function createBatch(tx: Kysely<Tables>) {
  let current: TableShape | undefined
  let rows: Row[] = []
  const flush = async () => {
    if (current && rows.length > 0) await insertRows(tx, current, rows)
    rows = []
  }
  return {
    flush,
    async add(shape: TableShape, row: Row) {
      if (current !== shape || rows.length >= batchRowsMax) await flush()
      current = shape
      rows.push(row)
    },
  }
}

function parse(text: string): ExportHeader | ExportLine | ExportEnd {
  try {
    return JSON.parse(text) as ExportLine
  } catch {
    throw new ImportError('The file is no export of Halyard: a line is not JSON. Nothing was imported.')
  }
}

function checkHeader(header: ExportHeader, version: number): void {
  if (header.halyard_export !== 1) throw new ImportError('The file is no export of Halyard that this version can read.')
  if (header.schema_version !== version)
    throw new ImportError(
      `The export has schema version ${header.schema_version}, the database ${version}. Export with the Halyard version that you import with: upgrade the old one first.`,
    )
}

const closed = (row: Row, json: Row = {}): Row => ({
  ...row,
  ...Object.fromEntries(Object.entries(json).map(([column, value]) => [column, JSON.stringify(value)])),
})
