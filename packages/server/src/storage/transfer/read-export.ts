import { ExplainedError } from '../../problem.ts'
import type { ExportEnd, ExportHeader, ExportLine } from './export-data.ts'
import type { Row } from './rows.ts'
import type { ColumnValue, TableShape } from './table-shapes.ts'

/** What is wrong with the file or its target, in a sentence. */
export class ImportError extends ExplainedError {}

/** What is wrong with a line of the file. */
export const lineError = (line: number, message: string, cause?: unknown): ImportError =>
  new ImportError(`Line ${line}: ${message} Nothing was imported.`, { cause })

export interface ExportedRow {
  /** Its line in the file, from 1. */
  readonly line: number
  readonly shape: TableShape
  readonly row: Row
}

/** Reads the file again from its beginning, a line at a time. */
export type OpenExport = () => AsyncIterable<string>

/** The first line. Raises ImportError when the export is none, or one of another schema. */
export async function readHeader(open: OpenExport, schemaVersion: number): Promise<ExportHeader> {
  for await (const text of open()) {
    const header = parse(text, 1) as ExportHeader
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
  let line = 0
  let rows = 0
  let end: ExportEnd['end'] | undefined
  for await (const text of open()) {
    line += 1
    if (line === 1 || text.trim() === '') continue
    if (end) throw lineError(line, 'There is a line after the end.')
    const parsed = parse(text, line)
    if ('end' in parsed) {
      end = parsed.end ?? { rows: -1 }
      continue
    }
    const { table, row, json = {} } = parsed as ExportLine
    const shape = shapes.get(table)
    if (!shape) throw lineError(line, `The table "${table}" is not known to this Halyard.`)
    if (!isObject(row) || !isObject(json))
      throw lineError(line, `\`row\` and \`json\` of a row of ${table} must be objects.`)
    const fault = faultOf(shape, row, json)
    if (fault) throw lineError(line, fault)
    yield { line, shape, row: closed(row, json) }
    rows += 1
  }
  if (!end || end.rows !== rows)
    throw new ImportError(
      `The export is not complete: it has ${rows} rows and should have ${end?.rows ?? 'an end'}. Nothing was imported.`,
    )
}

/** The first column with a wrong value, and what it should be. An export of this schema has every column. */
function faultOf({ name: table, values, isNumbered }: TableShape, row: Row, json: Row): string | undefined {
  const other = [...Object.keys(row), ...Object.keys(json)].find(column => !values.has(column))
  if (other !== undefined) return `${table}.${other} is not a column that this Halyard knows.`
  for (const [column, { type, isNullable }] of values) {
    const field = `${table}.${column}`
    const isOpened = Object.hasOwn(json, column)
    if (isOpened && Object.hasOwn(row, column)) return `${field} is in \`row\` and in \`json\`.`
    if (isOpened) {
      if (type !== 'text' || typeof json[column] !== 'object' || json[column] === null)
        return `${field} in \`json\` must be an object or a list${type === 'text' ? '' : ', and this column holds none'}.`
      continue
    }
    if (!Object.hasOwn(row, column)) return `${field} is missing.`
    const value = row[column]
    if (value === null ? !isNullable : !isOfType(value, type))
      return `${field} must be ${typeNames[type] ?? type}${isNullable ? ' or null' : ''}.`
    if (isNumbered && column === 'id' && Number(value) < 1) return `${field} must be at least 1.`
  }
  return undefined
}

const typeNames: Readonly<Record<ColumnValue['type'], string>> = {
  text: 'a string',
  integer: 'a whole number',
  real: 'a number',
}

function isOfType(value: unknown, type: ColumnValue['type']): boolean {
  if (type === 'text') return typeof value === 'string'
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === 'number' && Number.isFinite(value)
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

function parse(text: string, line: number): ExportHeader | ExportLine | ExportEnd {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isObject(parsed)) return parsed as unknown as ExportLine
  } catch {
    // Reported below.
  }
  throw line === 1
    ? new ImportError('The file is no export of Halyard: its first line is not a JSON object. Nothing was imported.')
    : lineError(line, 'It is not a JSON object: the export was changed or cut off.')
}

function checkHeader(header: ExportHeader, version: number): void {
  if (header.halyard_export !== 1) throw new ImportError('The file is no export of Halyard that this version can read.')
  if (header.schema_version !== version)
    throw new ImportError(
      `The export has schema version ${header.schema_version}, the database ${version}. Export with the Halyard version that you import with: upgrade the old one first.`,
    )
}

const closed = (row: Row, json: Row): Row => ({
  ...row,
  ...Object.fromEntries(Object.entries(json).map(([column, value]) => [column, JSON.stringify(value)])),
})
