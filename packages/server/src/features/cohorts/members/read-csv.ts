import { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { CsvError, parse } from 'csv-parse'
import { invalid, type Problem } from '../../../problem.ts'
import { type NamedPeople, namedPeople } from './members.ts'

const distinctIdHeaders = new Set(['distinct_id', 'distinct-id', 'distinctid', 'distinct id'])
const uuidHeaders = new Set(['person_id', 'person-id', 'personid', 'person id', 'uuid', 'person_uuid'])
const recordCharactersMax = 128 * 1024
/** How much is parsed before other requests get the event loop. */
const sliceBytes = 64 * 1024

/**
 * Persons from a CSV file: the column whose header is `distinct_id` or `person_id`, or the first column when there is
 * no such header. Raises `invalid` for a file that is not UTF-8 text, not CSV, or without any person.
 */
export async function readPeople(file: Buffer): Promise<NamedPeople> {
  const delimiter = delimiterOf(decode(file))
  let column: Column | undefined
  const ids: string[] = []
  for await (const record of parseRecords(file, delimiter)) {
    if (!column) {
      column = chooseColumn(record)
      if (column.isNamed) continue
    }
    const id = record[column.index]?.trim()
    if (id) ids.push(id)
  }
  if (ids.length === 0) {
    throw invalid('csv', 'empty', 'The file has no persons: put one distinct id on each line.')
  }
  return column?.isUuid ? namedPeople([], ids) : namedPeople(ids)
}

interface Column {
  readonly index: number
  readonly isNamed: boolean
  readonly isUuid: boolean
}

function chooseColumn(firstRecord: readonly string[]): Column {
  const header = firstRecord.map(cell => cell.trim().toLowerCase())
  const byDistinctId = header.findIndex(cell => distinctIdHeaders.has(cell))
  if (byDistinctId >= 0) return { index: byDistinctId, isNamed: true, isUuid: false }
  const byUuid = header.findIndex(cell => uuidHeaders.has(cell))
  return { index: Math.max(0, byUuid), isNamed: byUuid >= 0, isUuid: byUuid >= 0 }
}

function decode(file: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    throw invalid('csv', 'invalid_input', 'The file must be text in UTF-8.')
  }
}

/** Records one by one, so that memory holds only the wanted column. Raises `invalid`. */
async function* parseRecords(file: Buffer, delimiter: string): AsyncGenerator<readonly string[]> {
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: recordCharactersMax,
  })
  try {
    yield* Readable.from(slices(file)).pipe(parser)
  } catch (error) {
    throw error instanceof CsvError ? explain(error) : error
  }
}

async function* slices(file: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < file.length; start += sliceBytes) {
    yield file.subarray(start, start + sliceBytes)
    await yieldToEventLoop()
  }
}

/** The first line decides. A comma has precedence over the other separators that spreadsheets write. */
function delimiterOf(text: string): string {
  const [line = ''] = text.split(/\r?\n|\r/, 1)
  return [',', ';', '\t'].find(delimiter => line.includes(delimiter)) ?? ','
}

function explain(error: CsvError): Problem {
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return invalid('csv', 'max_length', `A line of the file is longer than ${recordCharactersMax} characters.`)
  }
  return invalid('csv', 'invalid_input', `The file is not valid CSV: ${error.message}.`)
}
