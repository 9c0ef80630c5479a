import { remapFilters } from '@halyard/engine'
import type { Row } from './rows.ts'
import type { TableShape } from './table-shapes.ts'

/** What a row of a table is called elsewhere; undefined when it is not known there. */
export type Rename = (table: string, id: unknown) => number | string | undefined

/** Columns that name a row of another table without the database holding them to it. */
const looseReferences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  activity: { project_id: 'projects', user_id: 'users' },
  dashboards: { flag_id: 'flags' },
  flag_versions: { user_id: 'users' },
  person_distinct_ids: { project_id: 'projects' },
}

export interface NamedTable {
  readonly column: string
  readonly table: string
  /** The row it names may be gone. */
  readonly isLoose: boolean
}

/** The columns of a table that name rows of others. */
export const namedTables = (shape: TableShape): readonly NamedTable[] => [
  ...shape.references.map(({ column, table }) => ({ column, table, isLoose: false })),
  ...Object.entries(looseReferences[shape.name] ?? {}).map(([column, table]) => ({ column, table, isLoose: true })),
]

export const missingReference = (shape: TableShape, column: string, table: string, value: unknown): string =>
  `${shape.name}.${column} names a row of ${table} that is not there: ${value}.`

/** The same row with everything that it names, and its own id, renamed. What is named inside of JSON follows. */
export function renameRow(shape: TableShape, row: Row, rename: Rename): Row {
  const renamed: Record<string, unknown> = { ...row }
  if (shape.isNumbered) renamed.id = rename(shape.name, row.id)
  for (const { column, table, isLoose } of namedTables(shape)) {
    if (row[column] === null || row[column] === undefined) continue
    const name = rename(table, row[column])
    if (name === undefined && !isLoose) throw new Error(missingReference(shape, column, table, row[column]))
    renamed[column] = name ?? null
  }
  Object.assign(renamed, specialColumns[shape.name]?.(row, rename))
  for (const [column, inside] of Object.entries(jsonColumns[shape.name] ?? {}))
    renamed[column] = renameText(`${shape.name}.${column}`, row[column], value => inside(value, rename, row))
  return renamed
}

/** Text in which nothing is renamed stays unchanged. */
function renameText(field: string, text: unknown, rename: (value: unknown) => unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    const value: unknown = JSON.parse(text)
    const renamed = JSON.stringify(rename(value))
    return renamed === JSON.stringify(value) ? text : renamed
  } catch (cause) {
    throw new Error(`${field} has not the shape that this Halyard stores (${(cause as Error).message}).`, { cause })
  }
}

type Inside = (value: unknown, rename: Rename, row: Row) => unknown
type Fields = Readonly<Record<string, Inside>>

/** Each named field by its own rule; everything else stays. */
const fields =
  (rules: Fields): Inside =>
  (value, rename, row) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        Object.hasOwn(rules, name) ? rules[name]!(field, rename, row) : field,
      ]),
    )
  }

const each =
  (inside: Inside): Inside =>
  (value, rename, row) =>
    Array.isArray(value) ? value.map(item => inside(item, rename, row)) : value

const idOf =
  (table: string): Inside =>
  (value, rename) => {
    if (typeof value !== 'number' && typeof value !== 'string') return value
    const renamed = rename(table, Number(value)) ?? value
    return typeof value === 'string' ? String(renamed) : renamed
  }

const inFilters: Inside = (value, rename) =>
  remapFilters(value, {
    cohort: id => rename('cohorts', Number(id)),
    flag: id => rename('flags', Number(id)),
    groupType: () => undefined,
  })

const dashboardIds = each(idOf('dashboards'))

/** What a writer decides about a flag or a cohort, in the words of the store and of the wire. */
const contentRules: Fields = {
  filters: inFilters,
  groups: inFilters,
  rollbackConditions: inFilters,
  rollback_conditions: inFilters,
  analyticsDashboards: dashboardIds,
  analytics_dashboards: dashboardIds,
}
const inContent = fields(contentRules)

/** `{field, before, after}`: both are what the field is. */
const inChange: Inside = (change, rename, row) => {
  const rule = contentRules[String((change as { field?: unknown } | null)?.field)]
  return rule ? fields({ before: rule, after: rule })(change, rename, row) : change
}

const inPayload = fields({ value: inContent })

/** What a change request changes: fields of a flag or cohort, or a scheduled change. */
const inRequest = fields({ ...contentRules, payload: inPayload, scheduledChange: idOf('scheduled_changes') })

const jobTables: Readonly<Record<string, string>> = { rollback: 'flags', scheduled_change: 'scheduled_changes' }

/** The trigger of a change. A job is identified by a number, or a number and an instant; its type determines the meaning. */
const inTrigger: Inside = (trigger, rename, row) => {
  const isOfPlugin = row.scope === 'PluginConfig'
  const { job_type } = (trigger ?? {}) as { job_type?: unknown }
  const table = isOfPlugin ? 'plugin_jobs' : (jobTables[String(job_type)] ?? '')
  return fields({
    copied_from_project: idOf('projects'),
    copied_from_flag: idOf('flags'),
    scheduled_change: idOf('scheduled_changes'),
    change_request: idOf('change_requests'),
    comment: idOf('change_request_comments'),
    job_id: value => String(value).replace(/^\d+/, id => String(rename(table, Number(id)) ?? id)),
    ...(!isOfPlugin && { payload: fields({ value: inContent, condition: inFilters }) }),
  })(trigger, rename, row)
}

const inDetail = fields({ changes: each(inChange), trigger: inTrigger })

const inDefinitions = fields({
  flags: each(fields({ id: idOf('flags'), filters: inFilters })),
  cohorts: each(fields({ id: idOf('cohorts'), filters: inFilters })),
})

/** What a plugin stores is not rewritten; what Halyard delivers to it about a flag is. */
const inJob: Inside = (value, rename, row) =>
  row.kind === 'flag_change'
    ? fields({
        project_id: idOf('projects'),
        flag_id: idOf('flags'),
        before: inContent,
        after: inContent,
        changes: each(inChange),
      })(value, rename, row)
    : value

const jsonColumns: Readonly<Record<string, Fields>> = {
  activity: { detail: inDetail },
  approval_policies: { emergency_roles: each(idOf('roles')) },
  change_requests: { base: inContent, patch: inRequest },
  cohorts: { filters: inFilters },
  cohort_jobs: { task: fields({ definitions: inDefinitions }) },
  dashboards: { tiles: each(fields({ flagId: idOf('flags') })) },
  flag_versions: { snapshot: inContent },
  flags: { filters: inFilters, rollback_conditions: inFilters, analytics_dashboards: dashboardIds },
  plugin_jobs: { payload: inJob },
  scheduled_changes: { payload: inPayload },
}

const itemTables: Readonly<Record<string, string>> = {
  FeatureFlag: 'flags',
  Cohort: 'cohorts',
  Plugin: 'plugins',
  PluginConfig: 'plugin_configs',
  ApprovalPolicy: 'approval_policies',
  ChangeRequest: 'change_requests',
  Freeze: 'freezes',
  EnvironmentSet: 'environment_sets',
  Webhook: 'webhooks',
}

const specialColumns: Readonly<Record<string, (row: Row, rename: Rename) => Row>> = {
  activity: (row, rename) => {
    const table = itemTables[String(row.scope)]
    return table ? { item_id: String(rename(table, Number(row.item_id)) ?? row.item_id) } : {}
  },
  // The last person that was looked at. When that one is gone, the work starts again: no one is put into a cohort twice.
  cohort_jobs: (row, rename) => {
    if (row.position === 0) return {}
    const position = rename('persons', row.position)
    return position === undefined ? { position: 0, processed: 0, matched: 0 } : { position }
  },
}
