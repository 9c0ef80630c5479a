import { invalid } from '../../../problem.ts'
import { type NamedPeople, namedPeople } from './members.ts'

const distinctIdHeaders = new Set(['distinct_id', 'distinct-id', 'distinctid', 'distinct id'])
const uuidHeaders = new Set(['person_id', 'person-id', 'personid', 'person id', 'uuid', 'person_uuid'])

/**
 * People from a CSV file: the column that a header calls `distinct_id` or `person_id`, or the first one when no header does.
 * Raises `invalid` for what is not text and for a file without anybody.
 */
export function readPeople(file: Buffer): NamedPeople {
  const rows = parseCsv(textOf(file))
  const header = (rows[0] ?? []).map(cell => cell.trim().toLowerCase())
  const byDistinctId = header.findIndex(cell => distinctIdHeaders.has(cell))
  const byUuid = header.findIndex(cell => uuidHeaders.has(cell))
  const column = (index: number, from: number) => rows.slice(from).flatMap(row => row[index]?.trim() || [])
  const people =
    byDistinctId >= 0
      ? namedPeople(column(byDistinctId, 1))
      : byUuid >= 0
        ? namedPeople([], column(byUuid, 1))
        : namedPeople(column(0, 0))
  if (people.distinctIds.length + people.uuids.length === 0) {
    throw invalid('csv', 'empty', 'The file names nobody: put one distinct id on each line.')
  }
  return people
}

function textOf(file: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    throw invalid('csv', 'invalid_input', 'The file must be text in UTF-8.')
  }
}

/** RFC 4180, with the separators that spreadsheets use. Only as much of a row as was found; blank lines are rows without cells. */
export function parseCsv(text: string): string[][] {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let position = 0
  while (position < text.length) {
    const cell = readCell(text, position, separator)
    row.push(cell.value)
    position = cell.end
    if (text[position] === separator) {
      position += 1
      if (position === text.length) row.push('')
      continue
    }
    rows.push(row)
    row = []
    position += text.startsWith('\r\n', position) ? 2 : 1
  }
  if (row.length > 0) rows.push(row)
  return rows
}

/** The first line decides: a comma wins, then what else separates. */
function separatorOf(text: string): string {
  const [line = ''] = text.split(/\r?\n|\r/, 1)
  return [',', ';', '\t'].find(separator => line.includes(separator)) ?? ','
}

function readCell(text: string, start: number, separator: string): { value: string; end: number } {
  if (text[start] !== '"') {
    let end = start
    while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1
    return { value: text.slice(start, end), end }
  }
  let value = ''
  let position = start + 1
  for (;;) {
    const quote = text.indexOf('"', position)
    if (quote === -1) return { value: value + text.slice(position), end: text.length }
    value += text.slice(position, quote)
    position = quote + 1
    if (text[position] !== '"') break
    value += '"'
    position += 1
  }
  // What follows the closing quote up to the separator belongs to nobody.
  while (position < text.length && text[position] !== separator && text[position] !== '\n' && text[position] !== '\r') {
    position += 1
  }
  return { value, end: position }
}
