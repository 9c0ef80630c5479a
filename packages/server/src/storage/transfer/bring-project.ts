import type { Kysely } from 'kysely'
import type { DialectName } from '../migrations/migration.ts'
import type { Tables } from '../tables.generated.ts'
import { findOrganization, findPeople, findPlugins, findRoles, type Place } from './counterparts.ts'
import { createBatch } from './import-batch.ts'
import { lineError, type OpenExport, readRows } from './read-export.ts'
import type { Row } from './rows.ts'
import { type Rename, renameRow } from './stored-references.ts'
import { isOfProject, type Survey } from './survey-export.ts'
import type { TableShape } from './table-shapes.ts'
import { takeNumbers } from './take-numbers.ts'

/** How a project arrives in an installation that is in use. */
export interface Newcomer {
  /** The id, slug or name of the organization that gets it; undefined for the one it came from, or the only one. */
  readonly organization: string | undefined
  /** What it is called from now on; undefined leaves its name. */
  readonly name: string | undefined
  /** Called only when the database is in use. */
  readonly findCredentials: () => Promise<Credentials>
}

/** Keys and sealed secrets: created and opened by the features that own them. */
export interface Credentials {
  newUuid(): string
  newToken(): string
  newSecretKey(): { readonly id: string; readonly value: string; readonly hash: string; readonly mask: string }
  /** Seals the secrets of a plugin's settings again for another place; undefined when they cannot be opened here. */
  moveSecrets(sealed: string, from: ConfigPlace, to: ConfigPlace): string | undefined
  canOpenPluginToken(sealed: string): boolean
}
export interface ConfigPlace {
  readonly projectId: number
  readonly pluginId: number
}

export interface BroughtProject {
  readonly id: number
  readonly name: string
  readonly organization: Place
  readonly token: string
  /** What a person has to know or do, in sentences. */
  readonly notes: readonly string[]
  /** Secret keys that were issued again, by label: they are shown once. */
  readonly secretKeys: readonly { readonly label: string; readonly value: string }[]
}

/**
 * Brings an exported project as a new one. Its rows get new ids, and everything that names them follows; people, roles and plugins are
 * found here by their names. Nothing that belongs to others is changed. Raises ImportError.
 */
export async function bringProject(
  tx: Kysely<Tables>,
  dialect: DialectName,
  shapes: ReadonlyMap<string, TableShape>,
  open: OpenExport,
  survey: Survey,
  newcomer: Newcomer & { readonly onProgress: (text: string) => void },
  credentials: Credentials,
): Promise<{ readonly rows: number; readonly project: BroughtProject }> {
  const { newUuid } = credentials
  const organization = await findOrganization(tx, newcomer.organization, survey.organization)
  const people = await findPeople(tx, survey.users, organization, newUuid)
  const roles = await findRoles(tx, survey.roles, organization, people, newUuid)
  const plugins = await findPlugins(tx, survey, organization)
  const names = new Map<string, Map<unknown, number | string>>([
    ['users', new Map(people.ids)],
    ['roles', new Map(roles.ids)],
    ['plugins', new Map(plugins.ids)],
  ])
  for (const [table, numbers] of survey.numbers) {
    const assigned = names.get(table) ?? new Map<unknown, number | string>()
    const unnamed = numbers.filter(number => !assigned.has(number))
    const taken = await takeNumbers(tx, dialect, table, unnamed.length)
    for (const [index, number] of unnamed.entries()) assigned.set(number, taken[index]!)
    names.set(table, assigned)
  }
  const rename: Rename = (table, id) => (table === 'organizations' ? organization.id : names.get(table)?.get(id))

  const isHereAlready = ({ name }: TableShape, row: Row): boolean =>
    plugins.ids.has(name === 'plugins' ? row.id : pluginParts.has(name) ? row.plugin_id : undefined)
  const arrivals = createArrivals(tx, newcomer.name, credentials)
  const batch = createBatch(tx, newcomer.onProgress, async (shape, rows) =>
    arrivals.prepare(
      shape.name,
      rows.map(({ row }) => row),
      rows.map(({ row, line }) => renameAt(line, () => renameRow(shape, row, rename))),
    ),
  )
  for await (const exported of readRows(open, shapes)) {
    const { shape, row } = exported
    if (isOfProject(shape.name) && !isHereAlready(shape, row)) await batch.add(exported)
  }
  const rows = await batch.end()

  const { id, name, api_token } = arrivals.project()
  const notes = [...arrivals.notes, ...people.notes, ...roles.notes, ...plugins.notes]
  return { rows, project: { id, name, organization, token: api_token, notes, secretKeys: arrivals.secretKeys } }
}

/** What is named inside of JSON can have any shape in a file that was edited. */
function renameAt(line: number, rename: () => Row): Row {
  try {
    return rename()
  } catch (error) {
    throw lineError(line, (error as Error).message, error)
  }
}

const pluginParts = new Set(['plugin_files', 'plugin_code'])

type Change = (renamed: Row, original: Row) => Promise<Row>

/** What has to be free, or to be opened, before a row may stand here. */
function createArrivals(tx: Kysely<Tables>, name: string | undefined, credentials: Credentials) {
  const notes: string[] = []
  const secretKeys: { label: string; value: string }[] = []
  let project: { id: number; name: string; api_token: string } | undefined

  const isTaken = async (table: 'projects' | 'secret_keys', column: 'uuid' | 'api_token' | 'hash', value: unknown) =>
    (await tx
      .selectFrom(table as 'projects')
      .select('id')
      .where(column as 'uuid', '=', String(value))
      .executeTakeFirst()) !== undefined

  const changes: Readonly<Record<string, Change>> = {
    async projects(row) {
      const isTokenTaken = await isTaken('projects', 'api_token', row.api_token)
      if (isTokenTaken) notes.push('The token is new, since another project here has the one of the export.')
      const uuid = (await isTaken('projects', 'uuid', row.uuid)) ? credentials.newUuid() : row.uuid
      const api_token = isTokenTaken ? credentials.newToken() : String(row.api_token)
      project = { id: Number(row.id), name: name ?? String(row.name), api_token }
      // The previous token of a rotation belongs to the installation that was left.
      return { ...row, ...project, uuid, previous_api_token: null, previous_token_expires_at: null }
    },
    async secret_keys(row) {
      if (!(await isTaken('secret_keys', 'hash', row.hash))) return row
      const next = credentials.newSecretKey()
      secretKeys.push({ label: String(row.label), value: next.value })
      return { ...row, id: next.id, hash: next.hash, mask: next.mask }
    },
    async plugins(row) {
      const isLost = row.private_token !== null && !credentials.canOpenPluginToken(String(row.private_token))
      if (isLost) notes.push(`The private token of the plugin ${row.name} cannot be opened here: enter it again.`)
      return { ...row, is_global: 0, ...(isLost && { private_token: null }) }
    },
    async plugin_configs(row, original) {
      if (row.secrets === null) return row
      const secrets = credentials.moveSecrets(String(row.secrets), placeOf(original), placeOf(row))
      if (secrets !== undefined) return { ...row, secrets }
      notes.push(
        `The secret settings of plugin configuration ${row.id} cannot be opened with the key of this installation. ` +
          'It is switched off: enter them again and switch it on.',
      )
      return { ...row, secrets: null, enabled: 0 }
    },
  }

  async function withFreeUuids(persons: readonly Row[]): Promise<readonly Row[]> {
    const uuids = persons.map(({ uuid }) => String(uuid))
    const existing = await tx.selectFrom('persons').select('uuid').where('uuid', 'in', uuids).execute()
    const taken = new Set(existing.map(({ uuid }) => uuid))
    return persons.map(row => (taken.has(String(row.uuid)) ? { ...row, uuid: credentials.newUuid() } : row))
  }

  return {
    notes,
    secretKeys,
    project: () => project!,
    async prepare(table: string, originals: readonly Row[], renamed: readonly Row[]): Promise<readonly Row[]> {
      if (table === 'persons') return withFreeUuids(renamed)
      const change = changes[table]
      if (!change) return renamed
      const rows: Row[] = []
      for (const [index, row] of renamed.entries()) rows.push(await change(row, originals[index]!))
      return rows
    },
  }
}

const placeOf = (config: Row): ConfigPlace => ({
  projectId: Number(config.project_id),
  pluginId: Number(config.plugin_id),
})
