import { type Kysely, sql } from 'kysely'
import { bindTo, isBound, refuseTaken } from '../bind-persons.ts'
import { migrate, refuseOtherSchema } from '../migrations/migrate.ts'
import type { Storage } from '../open-storage.ts'
import { personsMigrations } from '../persons-migrations/persons-migrations.ts'
import type { Tables } from '../tables.generated.ts'
import { ImportError } from './read-export.ts'
import { continueNumbering, countRows, fingerprint, insertRows, keyOf, pagesOf, type Row } from './rows.ts'
import { type TableShape, tableShapes } from './table-shapes.ts'

/** Those that move, in the order in which the main database can lose them again. */
const personTables = [
  'person_seen',
  'person_event_days',
  'cohort_people',
  'hash_key_overrides',
  'person_distinct_ids',
  'persons',
  'groups',
]

export interface CopyReport {
  readonly rows: number
  /** How many rows this run has added, replaced or removed; equal ones do not count. */
  readonly written: number
}

const shapesOfPersons = async (): Promise<readonly TableShape[]> => {
  const shapes = await tableShapes()
  return personTables.map(name => shapes.find(shape => shape.name === name)!)
}

/**
 * Makes the database of persons equal to the main one, page by page. Pages that are equal are not written, so that an interrupted copy goes
 * on quickly, and one that ran beside servers is brought up to date by another.
 */
export async function copyPersons(
  main: Storage,
  persons: Storage,
  onProgress: (text: string) => void,
): Promise<CopyReport> {
  await refuseOtherSchema(persons.kysely, personsMigrations)
  if (await isBound(persons.kysely)) throw new ImportError('This database has the persons of an installation already.')
  await migrate(persons.kysely, persons.dialect, { steps: personsMigrations })
  let [rows, written] = [0, 0]
  for (const shape of await shapesOfPersons()) {
    let last: readonly unknown[] | undefined
    let done = 0
    for await (const page of pagesOf(main.kysely, shape)) {
      const upTo = keyOf(shape, page.at(-1)!)
      written += await makeEqual(persons.kysely, shape, page, between(shape, last, upTo))
      last = upTo
      done += page.length
      onProgress(`${shape.name}: ${done}`)
    }
    written += await makeEqual(persons.kysely, shape, [], between(shape, last, undefined))
    await continueNumbering(persons.kysely, persons.dialect, shape)
    rows += done
  }
  return { rows, written }
}

/** After it, the persons are in their own database. No server runs meanwhile. Raises ImportError when the two are not equal. */
export async function finishMove(
  main: Storage,
  persons: Storage,
  onProgress: (text: string) => void,
): Promise<CopyReport> {
  // One that ended between its last two steps only has to be compared.
  await refuseOtherSchema(persons.kysely, personsMigrations)
  const isLastStepMissing = await isBound(persons.kysely)
  if (isLastStepMissing) {
    await refuseTaken(main.kysely, persons.kysely)
    await migrate(persons.kysely, persons.dialect, { steps: personsMigrations })
  }
  const report = isLastStepMissing ? { rows: 0, written: 0 } : await copyPersons(main, persons, onProgress)
  for (const shape of await shapesOfPersons()) {
    const [from, to] = [await fingerprint(main.kysely, shape), await fingerprint(persons.kysely, shape)]
    if (from.rows !== to.rows || from.checksum !== to.checksum)
      throw new ImportError(
        `The table ${shape.name} differs: ${from.rows} rows became ${to.rows}. Run the command again.`,
      )
    onProgress(`${shape.name}: ${to.rows} rows compared`)
  }
  await bindTo(main.kysely, persons.kysely)
  return report
}

const removedAtOnceMax = 5000

/** Removes what is left in the main database of persons that have moved; can be interrupted and repeated. */
export async function removeCopies(main: Storage, onProgress: (text: string) => void): Promise<void> {
  if (!(await isBound(main.kysely))) throw new ImportError('The persons are still in the main database.')
  for (const shape of await shapesOfPersons()) {
    const key = sql.join(shape.key.map(column => sql.ref(column)))
    const table = sql.table(shape.name)
    for (let left = await countRows(main.kysely, shape); left > 0; left -= removedAtOnceMax) {
      await sql`delete from ${table} where (${key}) in (select ${key} from ${table} limit ${sql.lit(removedAtOnceMax)})`.execute(
        main.kysely,
      )
    }
    onProgress(`${shape.name}: removed from the main database`)
  }
}

/** Returns how many rows were missing, different or too many. */
async function makeEqual(
  target: Kysely<Tables>,
  shape: TableShape,
  page: readonly Row[],
  range: ReturnType<typeof between>,
): Promise<number> {
  const stored: Row[] = []
  for await (const part of pagesOf(target, shape, undefined, range)) stored.push(...part)
  const before = new Set(stored.map(row => textOf(shape, row)))
  const equal = page.filter(row => before.has(textOf(shape, row))).length
  if (equal === page.length && equal === stored.length) return 0
  await target.transaction().execute(async tx => {
    await sql`delete from ${sql.table(shape.name)} where ${range}`.execute(tx)
    await insertRows(tx, shape, page)
  })
  const keys = new Set([...stored, ...page].map(row => JSON.stringify(keyOf(shape, row))))
  return keys.size - equal
}

const textOf = (shape: TableShape, row: Row): string => JSON.stringify(shape.columns.map(column => row[column] ?? null))

/** Keys after one and up to another; without one, there is no such end. */
function between(shape: TableShape, after: readonly unknown[] | undefined, upTo: readonly unknown[] | undefined) {
  const key = sql.join(shape.key.map(column => sql.ref(column)))
  const beyond = after ? sql`(${key}) > (${sql.join(after)})` : sql`1 = 1`
  const within = upTo ? sql`(${key}) <= (${sql.join(upTo)})` : sql`1 = 1`
  return sql<boolean>`${beyond} and ${within}`
}
