import { ExplainedError } from '../../problem.ts'
import type { ExportEnd, ExportHeader, ExportLine } from './export-data.ts'
import type { Row } from './rows.ts'
import type { TableShape } from './table-shapes.ts'

/** What is wrong with the file or its target, in a sentence. */
export class ImportError extends ExplainedError {}

export interface ExportedRow {
  readonly shape: TableShape
  readonly row: Row
}

/** Reads the file again from its beginning, a line at a time. */
export type OpenExport = () => AsyncIterable<string>

/** The first line. Raises ImportError when the export is none, or one of another schema. */
export async function readHeader(open: OpenExport, schemaVersion: number): Promise<ExportHeader> {
  for await (const text of open()) {
    const header = parse(text) as ExportHeader
    checkHeader(header, schemaVersion)
    return header
  }
  throw new ImportError('The file is empty. Nothing was imported.')
}

/** The rows in their order: each after those that it refers to. Raises ImportError at the end when some are missing. */
export async function* readRows(
  open: OpenExport,
  shapes: ReadonlyMap<string, TableShape>,
): AsyncGenerator<ExportedRow, void> {
  let isFirst = true
  let rows = 0
  let end: ExportEnd['end'] | undefined
  for await (const text of open()) {
    if (isFirst || text.trim() === '') {
      isFirst = false
      continue
    }
    const line = parse(text)
    if ('end' in line) {
      end = line.end
      continue
    }
    const { table, row, json } = line as ExportLine
    const shape = shapes.get(table)
    if (!shape || typeof row !== 'object')
      throw new ImportError(`The export has rows of a table "${table}" that this Halyard does not know.`)
    yield { shape, row: closed(row, json) }
    rows += 1
  }
  if (!end || end.rows !== rows)
    throw new ImportError(
      `The export is not complete: it has ${rows} rows and should have ${end?.rows ?? 'an end'}. Nothing was imported.`,
    )
}

function parse(text: string): ExportHeader | ExportLine | ExportEnd {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line as ExportLine
  } catch {
    // Reported below.
  }
  throw new ImportError('The file is no export of Halyard: a line is not JSON. Nothing was imported.')
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
