import { type Kysely, sql } from 'kysely'
import { migrate } from '../migrations/migrate.ts'
import type { Storage } from '../open-storage.ts'
import type { Tables } from '../tables.generated.ts'
import { ImportError } from './read-export.ts'
import { continueNumbering, countRows, fingerprint, insertRows, keyOf, pagesOf } from './rows.ts'
import { type TableShape, tableShapes } from './table-shapes.ts'

/** The progress of an interrupted move, stored in the target with the rows and removed at the end. */
const progressName = 'migrate_store_progress'
interface Progress {
  readonly table: string
  readonly key: readonly unknown[]
  /** Set once everything was compared: only the last steps are missing. */
  readonly compared?: MoveReport
}

export interface MoveReport {
  readonly tables: number
  readonly rows: number
}

/**
 * Copies everything from one database into another, page by page. Each page and the note of how far it got are one transaction, so a
 * move that was interrupted resumes. At the end every table is compared by count and checksum; then `finish` is called, and only
 * after it the note is removed, so that whenever the process dies, the same command brings the rest. Raises ImportError.
 */
export async function moveStore(
  source: Storage,
  target: Storage,
  onProgress: (text: string) => void,
  finish: (report: MoveReport) => Promise<void> = async () => {},
): Promise<MoveReport> {
  await migrate(source.kysely, source.dialect)
  await migrate(target.kysely, target.dialect)
  const shapes = await tableShapes()
  // The SQLite file has no other writer meanwhile; with PostgreSQL, stop the nodes first.
  source.sqlite?.handle.exec('begin immediate')
  try {
    const report = await copyAndCompare(source.kysely, target, shapes, onProgress)
    await finish(report)
    await target.kysely.deleteFrom('instance').where('name', '=', progressName).execute()
    return report
  } finally {
    source.sqlite?.handle.exec('rollback')
  }
}

async function copyAndCompare(
  source: Kysely<Tables>,
  target: Storage,
  shapes: readonly TableShape[],
  onProgress: (text: string) => void,
): Promise<MoveReport> {
  const progress = await readProgress(target.kysely)
  if (progress?.compared) return progress.compared
  await copyAll(source, target, shapes, progress, onProgress)
  const compared = await compareAll(source, target.kysely, shapes, onProgress)
  await writeProgress(target.kysely, { table: '', key: [], compared })
  return compared
}

async function copyAll(
  source: Kysely<Tables>,
  target: Storage,
  shapes: readonly TableShape[],
  progress: Progress | undefined,
  onProgress: (text: string) => void,
) {
  if (!progress) await refuseUnlessEmpty(target.kysely, shapes)
  const start = progress ? shapes.findIndex(({ name }) => name === progress.table) : 0
  if (start < 0) throw new ImportError('The target holds the beginning of another move. Start with an empty database.')
  if (progress) onProgress(`going on with ${progress.table}`)
  for (const shape of shapes.slice(start)) {
    const total = await countRows(source, shape)
    let done = progress?.table === shape.name ? await countRows(target.kysely, shape) : 0
    for await (const page of pagesOf(source, shape, progress?.table === shape.name ? progress.key : undefined)) {
      await target.kysely.transaction().execute(async tx => {
        // The progress is stored in the table `instance`, whose own rows are moved as well.
        await insertRows(tx, shape, page)
        await writeProgress(tx, { table: shape.name, key: keyOf(shape, page.at(-1)!) })
      })
      done += page.length
      onProgress(`${shape.name}: ${done} of ${total}`)
    }
    await continueNumbering(target.kysely, target.dialect, shape)
  }
}

/** The note of progress is only in the target. */
const ofBoth = ({ name }: TableShape) =>
  name === 'instance' ? sql<boolean>`name <> ${progressName}` : sql<boolean>`1 = 1`

async function compareAll(
  source: Kysely<Tables>,
  target: Kysely<Tables>,
  shapes: readonly TableShape[],
  onProgress: (text: string) => void,
): Promise<MoveReport> {
  let rows = 0
  for (const shape of shapes) {
    const [from, to] = [
      await fingerprint(source, shape, ofBoth(shape)),
      await fingerprint(target, shape, ofBoth(shape)),
    ]
    if (from.rows !== to.rows || from.checksum !== to.checksum)
      throw new ImportError(
        `The table ${shape.name} differs: ${from.rows} rows (${from.checksum.slice(0, 12)}) became ${to.rows} (${to.checksum.slice(0, 12)}). ` +
          'Was something written meanwhile? Stop Halyard and move into an empty database again.',
      )
    rows += to.rows
    onProgress(`${shape.name}: ${to.rows} rows compared, ${to.checksum.slice(0, 12)}`)
  }
  return { tables: shapes.length, rows }
}

async function refuseUnlessEmpty(target: Kysely<Tables>, shapes: readonly TableShape[]): Promise<void> {
  await target.deleteFrom('change_head').where('sequence', '=', 0).execute()
  for (const shape of shapes) {
    if ((await countRows(target, shape)) > 0)
      throw new ImportError(
        `The target is not empty (${shape.name} has rows). If a move has ended there, nothing is left to do; otherwise move into a new database.`,
      )
  }
}

async function readProgress(target: Kysely<Tables>): Promise<Progress | undefined> {
  const row = await target.selectFrom('instance').select('value').where('name', '=', progressName).executeTakeFirst()
  return row && (JSON.parse(row.value) as Progress)
}

async function writeProgress(tx: Kysely<Tables>, progress: Progress): Promise<void> {
  const value = JSON.stringify(progress)
  await tx
    .insertInto('instance')
    .values({ name: progressName, value })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
