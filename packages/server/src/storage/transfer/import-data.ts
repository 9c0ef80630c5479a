import type { Kysely } from 'kysely'
import { isRowRefused } from '../driver-error.ts'
import { schemaVersion } from '../migrations/migrate.ts'
import type { Storage } from '../open-storage.ts'
import type { Tables } from '../tables.generated.ts'
import { type BroughtProject, bringProject, type Newcomer } from './bring-project.ts'
import { createBatch } from './import-batch.ts'
import { ImportError, type OpenExport, readHeader, readRows } from './read-export.ts'
import { continueNumbering, countRows } from './rows.ts'
import { surveyExport } from './survey-export.ts'
import { type TableShape, tableShapes } from './table-shapes.ts'

export interface ImportOptions extends Newcomer {
  /** Everything is done, and then taken back. */
  readonly isDryRun: boolean
  readonly onProgress: (text: string) => void
  /** The last work of the transaction; without a project, the export was a full one. */
  readonly finish: (tx: Kysely<Tables>, project: BroughtProject | undefined) => Promise<unknown>
}

export interface ImportReport {
  readonly rows: number
  /** Undefined when the database was empty, and is now what was exported. */
  readonly project?: BroughtProject
}

type Shapes = ReadonlyMap<string, TableShape>

/** A new database has these already. */
const filledByMigrations = new Set(['change_head'])

/**
 * Brings an export into a database, in one transaction: all of it or nothing. An empty database becomes exactly what was exported; into one
 * that is in use, an exported project comes as a new one. Raises ImportError.
 */
export async function importData(storage: Storage, open: OpenExport, options: ImportOptions): Promise<ImportReport> {
  const shapes = new Map((await tableShapes()).map(shape => [shape.name, shape]))
  const header = await readHeader(open, await schemaVersion(storage.kysely))
  const filled = await findFilled(storage.kysely, shapes)
  if (filled && header.project_id === undefined)
    throw new ImportError(
      `The database is not empty (${filled} has rows). An export of everything goes into a new one: set DATABASE_URL to it. ` +
        'Into this one, bring the projects one by one: export each with --project.',
    )
  if (filled) {
    // The file is checked first, so that the transaction is short.
    const survey = await surveyExport(open, shapes)
    const credentials = await options.findCredentials()
    return inTransaction(storage, options, tx =>
      bringProject(tx, storage.dialect, shapes, open, survey, options, credentials),
    )
  }
  return inTransaction(storage, options, async tx => {
    const nowFilled = await findFilled(tx, shapes)
    if (nowFilled) throw new ImportError(`The database is not empty any more (${nowFilled} has rows). Try again.`)
    return { rows: await fillEmpty(tx, storage, shapes, open, options) }
  })
}

/** Thrown at the end of a dry run, so that the transaction is rolled back. */
class DryRunRollback extends Error {
  readonly report: ImportReport
  constructor(report: ImportReport) {
    super('A dry run.')
    this.report = report
  }
}

async function inTransaction(
  storage: Storage,
  { isDryRun, finish }: ImportOptions,
  work: (tx: Kysely<Tables>) => Promise<ImportReport>,
): Promise<ImportReport> {
  try {
    return await storage.kysely.transaction().execute(async tx => {
      const report = await work(tx)
      await finish(tx, report.project)
      if (isDryRun) throw new DryRunRollback(report)
      return report
    })
  } catch (error) {
    if (error instanceof DryRunRollback) return error.report
    if (isRowRefused(error))
      throw new ImportError(`The database refuses the export: ${error.message}. Nothing was imported.`, {
        cause: error,
      })
    throw error
  }
}

async function findFilled(db: Kysely<Tables>, shapes: Shapes): Promise<string | undefined> {
  for (const shape of shapes.values()) {
    if (!filledByMigrations.has(shape.name) && (await countRows(db, shape)) > 0) return shape.name
  }
  return undefined
}

async function fillEmpty(
  tx: Kysely<Tables>,
  { dialect }: Storage,
  shapes: Shapes,
  open: OpenExport,
  { onProgress }: ImportOptions,
): Promise<number> {
  await tx.deleteFrom('change_head').execute()
  const batch = createBatch(tx, onProgress)
  for await (const row of readRows(open, shapes)) await batch.add(row)
  const rows = await batch.end()
  for (const shape of shapes.values()) await continueNumbering(tx, dialect, shape)
  return rows
}
