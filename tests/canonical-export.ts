import { readRows } from '../packages/server/src/storage/transfer/read-export.ts'
import type { Row } from '../packages/server/src/storage/transfer/rows.ts'
import { renameRow } from '../packages/server/src/storage/transfer/stored-references.ts'
import { isOfProject } from '../packages/server/src/storage/transfer/survey-export.ts'
import type { TableShape } from '../packages/server/src/storage/transfer/table-shapes.ts'
import { tableShapes } from '../packages/server/src/storage/transfer/table-shapes.ts'

/**
 * Normalizes the export of a project so that it does not depend on the installation: ids become row numbers, users become their email,
 * roles their name. Rows outside the project are omitted.
 */
export async function canonicalLines(text: string): Promise<string[]> {
  const shapes = new Map((await tableShapes()).map(shape => [shape.name, shape]))
  const all: { shape: TableShape; row: Row }[] = []
  for await (const exported of readRows(() => linesOf(text), shapes)) all.push(exported)
  const names = new Map<string, Map<unknown, string>>()
  for (const { shape, row } of all) {
    const known = names.get(shape.name) ?? new Map<unknown, string>()
    names.set(shape.name, known.set(row.id, nameOf(shape, row) ?? `${shape.name} ${known.size + 1}`))
  }
  return all
    .filter(({ shape }) => isOfProject(shape.name))
    .map(({ shape, row }) => {
      const renamed = renameRow(shape, row, (table, id) =>
        table === 'organizations' ? 'organization' : names.get(table)?.get(id),
      )
      return `${shape.name} ${JSON.stringify(renamed)}`
    })
    .sort()
}

function nameOf({ name }: TableShape, row: Row): string | undefined {
  if (name === 'users') return String(row.email)
  return name === 'roles' ? String(row.name_folded) : undefined
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split('\n')
}

/** The ids of the rows. */
export const rowNumbersIn = (text: string): number[] =>
  [...text.matchAll(/"row":{"id":(\d+)[,}]/g)].map(([, digits]) => Number(digits))

/** Every number in an export, including strings that consist of a number. */
export function numbersIn(text: string): Set<number> {
  const found = new Set<number>()
  const look = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(look)
    else if (typeof value === 'number') found.add(value)
    else if (typeof value === 'string') for (const [digits] of value.matchAll(/^\d+(?=$|:)/g)) found.add(Number(digits))
  }
  for (const line of text.split('\n')) if (line !== '') look(JSON.parse(line))
  return found
}
