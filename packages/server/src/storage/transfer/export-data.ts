import { type RawBuilder, sql } from 'kysely'
import { instantOf } from '../../instant.ts'
import { secretKeyName } from '../instance-store.sql.ts'
import { schemaVersion } from '../migrations/migrate.ts'
import type { Storage } from '../open-storage.ts'
import { pagesOf, type Row } from './rows.ts'
import { namedTables } from './stored-references.ts'
import { type TableShape, tableShapes } from './table-shapes.ts'

/** The first line of an export; every other line but the last is one row. */
export interface ExportHeader {
  readonly halyard_export: 1
  readonly schema_version: number
  readonly exported_at: string
  /** Absent when everything was exported. */
  readonly project_id?: number
}
export interface ExportLine {
  readonly table: string
  readonly row: Row
  /** Columns that hold JSON, opened up so that people can read them. */
  readonly json?: Readonly<Record<string, unknown>>
}
export interface ExportEnd {
  readonly end: { readonly rows: number }
}

/** A consistent read of the database as lines of JSON: all of it, or one project with its references. Returns the number of rows. */
export async function exportData(
  storage: Storage,
  write: (line: string) => Promise<void>,
  projectId?: number,
): Promise<number> {
  const shapes = await tableShapes()
  return storage.kysely
    .transaction()
    .setAccessMode('read only')
    .setIsolationLevel('repeatable read')
    .execute(async tx => {
      const say = (value: ExportHeader | ExportLine | ExportEnd) => write(`${JSON.stringify(value)}\n`)
      await say({
        halyard_export: 1,
        schema_version: await schemaVersion(tx),
        exported_at: instantOf(new Date()),
        ...(projectId !== undefined && { project_id: projectId }),
      })
      let rows = 0
      for (const shape of shapes) {
        const where = projectId === undefined ? exportable(shape) : partOfProject(shapes, shape, projectId)
        if (projectId !== undefined && !where) continue
        for await (const page of pagesOf(tx, shape, undefined, where)) {
          for (const row of page) await say(lineOf(shape, row))
          rows += page.length
        }
      }
      await say({ end: { rows } })
      return rows
    })
}

/** The key of all secrets does not lie beside what it encrypts. */
const exportable = ({ name }: TableShape): RawBuilder<boolean> | undefined =>
  name === 'instance' ? sql<boolean>`name <> ${secretKeyName}` : undefined

function lineOf(shape: TableShape, row: Row): ExportLine {
  const json: Record<string, unknown> = {}
  const plain: Record<string, unknown> = {}
  for (const column of shape.columns) {
    const value = row[column]
    const opened = openJson(value)
    if (opened === undefined) plain[column] = value ?? null
    else json[column] = opened
  }
  return { table: shape.name, row: plain, ...(Object.keys(json).length > 0 && { json }) }
}

/** Only text that round-trips exactly. */
function openJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return undefined
  try {
    const opened: unknown = JSON.parse(value)
    return JSON.stringify(opened) === value ? opened : undefined
  } catch {
    return undefined
  }
}

/** Which rows of a table belong to a project: by its id, or through the tables it refers to. Undefined when none do. */
function partOfProject(
  shapes: readonly TableShape[],
  shape: TableShape,
  projectId: number,
): RawBuilder<boolean> | undefined {
  if (shape.name === 'projects') return sql<boolean>`id = ${projectId}`
  // Its own, and those of global plugins that it uses.
  if (shape.name === 'organizations')
    return sql<boolean>`(id in (select organization_id from projects where id = ${projectId})
      or id in (select organization_id from plugins where ${usedPlugins(projectId)}))`
  if (shape.name === 'plugins') return usedPlugins(projectId)
  // A project leaves its set: the other environments stay.
  if (shape.name === 'environments') return undefined
  // What other organizations have accepted is theirs.
  if (shape.name === 'plugin_acceptances' || shape.name === 'plugin_releases') return undefined
  if (shape.name === 'users') return sql<boolean>`(${sql.join(whereUsersAreNamed(shapes, projectId), sql` or `)})`
  // Where the change log ends belongs to every database.
  if (shape.name === 'change_head') return sql<boolean>`1 = 1`
  if (shape.name === 'memberships' || shape.name === 'roles')
    return sql<boolean>`organization_id in (select organization_id from projects where id = ${projectId})`
  if (shape.columns.includes('project_id')) return sql<boolean>`project_id = ${projectId}`
  const parent = shape.references.find(({ table }) => {
    const target = shapes.find(({ name }) => name === table)
    return (
      target &&
      table !== shape.name &&
      !['users', 'organizations'].includes(table) &&
      partOfProject(shapes, target, projectId)
    )
  })
  if (!parent) return undefined
  const target = shapes.find(({ name }) => name === parent.table)!
  const within = partOfProject(shapes, target, projectId)!
  return sql<boolean>`${sql.ref(parent.column)} in (select ${sql.ref(parent.to)} from ${sql.table(parent.table)} where ${within})`
}

const usedPlugins = (projectId: number): RawBuilder<boolean> =>
  sql<boolean>`id in (select plugin_id from plugin_configs where project_id = ${projectId})`

/** Every user that a row of the project names. */
const whereUsersAreNamed = (shapes: readonly TableShape[], projectId: number): RawBuilder<boolean>[] =>
  shapes.flatMap(shape => {
    if (shape.name === 'users') return []
    const within = partOfProject(shapes, shape, projectId)
    const named = within ? namedTables(shape).filter(({ table }) => table === 'users') : []
    return named.map(
      ({ column }) => sql<boolean>`id in (select ${sql.ref(column)} from ${sql.table(shape.name)} where ${within})`,
    )
  })
