import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { markdownOf, type Records } from './report.ts'

/** Resolves a file of the repository relative to the bundle in `bench/.cache`. */
const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export const recordsPath = (size: string): string => fileOf(`bench/.cache/results-${size}.json`)

export function readRecords(path: string): Records {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { rows: Records }).rows : {}
}

/** Rows that were not measured in this run are retained. */
export function writeRecords(path: string, measured: Records): Records {
  const rows = { ...readRecords(path), ...measured }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ rows }, null, 2)}\n`)
  return rows
}

const begin = '<!-- bench: begin -->'
const end = '<!-- bench: end -->'

/** Writes the tables between the two markers in the document. */
export function publish(documentPath: string, records: Records, order: readonly string[]): void {
  const path = fileOf(documentPath)
  const text = readFileSync(path, 'utf8')
  const [head, tail] = [text.indexOf(begin), text.indexOf(end)]
  if (head === -1 || tail < head) throw new Error(`${documentPath} has no markers for the tables.`)
  writeFileSync(path, `${text.slice(0, head)}${begin}\n\n${markdownOf(records, order)}\n\n${text.slice(tail)}`)
}
