/** A column of an uploaded file. */
export interface CsvColumn {
  /** From the header, or empty. */
  readonly name: string
  readonly values: readonly string[]
}

export interface CsvFile {
  readonly columns: readonly CsvColumn[]
  /** The column with the distinct ids; undefined when that is not clear. */
  readonly idColumn: number | undefined
}

const idNames = ['distinct_id', 'distinctid', 'distinct_ids', 'user_id', 'userid', 'id']
const otherNames = ['email', 'name', 'first_name', 'last_name', 'phone', 'plan', 'created_at']

/** Reads a CSV file with commas, semicolons or tabs, quoted fields and an optional header. */
export function readCsv(text: string): CsvFile {
  const rows = parseRows(text.replace(/^\uFEFF/, '')).filter(row => row.some(cell => cell !== ''))
  const [first = [], ...rest] = rows
  const names = first.map(normalize)
  const hasHeader = names.some(name => idNames.includes(name) || otherNames.includes(name))
  const body = hasHeader ? rest : rows
  const width = Math.max(0, ...rows.map(row => row.length))
  const columns = Array.from({ length: width }, (_, index) => ({
    name: hasHeader ? (first[index] ?? '') : '',
    values: body.map(row => row[index] ?? '').filter(value => value !== ''),
  }))
  return { columns, idColumn: width === 1 ? 0 : hasHeader ? bestColumn(names) : undefined }
}

const normalize = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')

/** The most specific name wins; `id` only when nothing better is there. */
function bestColumn(names: readonly string[]): number | undefined {
  for (const wanted of idNames) {
    const index = names.indexOf(wanted)
    if (index !== -1) return index
  }
  return undefined
}

/** The delimiter is the one that the first line has outside of quotes. */
function parseRows(text: string): string[][] {
  const firstLine = (text.split(/\r?\n/, 1)[0] ?? '').replace(/"[^"]*"/g, '')
  const delimiter = [',', ';', '\t'].find(each => firstLine.includes(each)) ?? ','
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  const endCell = () => {
    row.push(cell.trim())
    cell = ''
  }
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else isQuoted = false
    } else if (letter === '"' && cell.trim() === '') {
      cell = ''
      isQuoted = true
    } else if (letter === delimiter) endCell()
    else if (letter === '\n') {
      endCell()
      rows.push(row)
      row = []
    } else if (letter !== '\r') cell += letter
  }
  endCell()
  rows.push(row)
  return rows
}
