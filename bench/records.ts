import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Figure } from './measure.ts'
import { markdownOf, type Records } from './report.ts'

/** Files of the repository, from the bundle in `bench/.cache`. */
const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export const recordsPath = (size: string): string => fileOf(`bench/.cache/results-${size}.json`)

export function readRecords(path: string): Records {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { rows: Records }).rows : {}
}

/** Rows that were not run this time stay as they were. */
export function writeRecords(path: string, found: Records): Records {
  const rows = { ...readRecords(path), ...found }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ rows }, null, 2)}\n`)
  return rows
}

const begin = '<!-- bench: begin -->'
const end = '<!-- bench: end -->'
const page = 'docs/reference/performance.md'

/** Puts the tables between two marks of the page on performance. */
export function publish(records: Records, order: readonly string[]): string {
  const path = fileOf(page)
  const text = readFileSync(path, 'utf8')
  const [head, tail] = [text.indexOf(begin), text.indexOf(end)]
  if (head === -1 || tail < head) throw new Error(`${page} has no marks for the tables.`)
  writeFileSync(path, `${text.slice(0, head)}${begin}\n\n${markdownOf(records, order)}\n\n${text.slice(tail)}`)
  return page
}

const baselinePath = fileOf('bench/baseline.json')

/** Guarded figures as they were when somebody last looked, by measure. */
export type Baseline = Readonly<Record<string, number>>

export const readBaseline = (): Baseline =>
  existsSync(baselinePath) ? (JSON.parse(readFileSync(baselinePath, 'utf8')) as Baseline) : {}

export function writeBaseline(figures: readonly Figure[]): void {
  const guarded = figures.filter(({ guard }) => guard !== undefined)
  const values = Object.fromEntries(guarded.map(({ measure, value }) => [measure, Number(value.toPrecision(3))]))
  writeFileSync(baselinePath, `${JSON.stringify({ ...readBaseline(), ...values }, null, 2)}\n`)
}
