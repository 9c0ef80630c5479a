import { ImportError, type OpenExport, readRows } from './read-export.ts'
import type { Row } from './rows.ts'
import { namedTables } from './stored-references.ts'
import type { TableShape } from './table-shapes.ts'

/** What comes with a project so that it can be understood elsewhere, and is found or made there by its name. */
const surroundings = new Set(['organizations', 'users', 'memberships', 'roles', 'role_memberships'])
/** Each installation keeps its own. */
const ownOfInstallation = new Set(['changes', 'change_head'])

export const isOfProject = (table: string): boolean => !surroundings.has(table) && !ownOfInstallation.has(table)

/** What has to be known of an exported project before its rows can be renamed. */
export interface Survey {
  readonly project: Row
  readonly organization: Row
  /** The users that the project's rows name. */
  readonly users: readonly Row[]
  /** The roles that its flags are open to. */
  readonly roles: readonly Row[]
  readonly plugins: readonly Row[]
  /** The code of each plugin, by its id and the name of the file. */
  readonly pluginFiles: ReadonlyMap<unknown, ReadonlyMap<string, string>>
  /** The numbers of its rows, by table, ascending. */
  readonly numbers: ReadonlyMap<string, readonly number[]>
}

/** Raises ImportError when it is not exactly one project, or not all of it. */
export async function surveyExport(open: OpenExport, shapes: ReadonlyMap<string, TableShape>): Promise<Survey> {
  const kept = new Map<string, Row[]>(['organizations', 'users', 'roles', 'projects', 'plugins'].map(t => [t, []]))
  const numbers = new Map<string, number[]>()
  const named = { users: new Set<unknown>(), roles: new Set<unknown>() }
  const files = new Map<unknown, Map<string, string>>()
  for await (const { shape, row } of readRows(open, shapes)) {
    kept.get(shape.name)?.push(row)
    if (!isOfProject(shape.name)) continue
    if (shape.isNumbered) {
      if (!numbers.has(shape.name)) numbers.set(shape.name, [])
      numbers.get(shape.name)?.push(Number(row.id))
    }
    for (const { column, table } of namedTables(shape)) {
      if (table === 'users' || table === 'roles') named[table].add(row[column])
    }
    if (shape.name === 'plugin_files')
      files.set(row.plugin_id, (files.get(row.plugin_id) ?? new Map()).set(String(row.name), String(row.source)))
  }
  const [project, ...others] = kept.get('projects') ?? []
  if (!project || others.length > 0) throw new ImportError('The export does not hold exactly one project.')
  const organization = kept.get('organizations')?.find(({ id }) => id === project.organization_id)
  if (!organization) throw new ImportError('The export lacks the organization of its project.')
  const roles = (kept.get('roles') ?? []).filter(({ id }) => named.roles.has(id))
  for (const { created_by_id } of roles) named.users.add(created_by_id)
  const users = (kept.get('users') ?? []).filter(({ id }) => named.users.has(id))
  return { project, organization, users, roles, plugins: kept.get('plugins') ?? [], pluginFiles: files, numbers }
}
