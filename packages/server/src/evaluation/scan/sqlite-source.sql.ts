import type { SqliteHandle } from '../../storage/sqlite/sqlite-connection.ts'
import { containsParameter, likePattern } from '../../storage/text-search.ts'
import {
  type Batch,
  type BatchOrder,
  batchBytesMax,
  cohortsByPerson,
  hashKeysByPerson,
  historiesByPerson,
  historiesQuery,
  type Needs,
  propertiesColumn,
  type Read,
  readWithinBounds,
  type Source,
} from './batch.ts'
import type { Target } from './scan-request.ts'

/**
 * Aggregates a batch into a few long strings, because creating an object per row would dominate the cost. JSON never contains a raw line
 * break, so line breaks separate the properties.
 */
export function sqliteSource(
  handle: SqliteHandle,
  projectId: number,
  target: Target,
  needs: Needs,
  { descending, search }: BatchOrder,
): Source {
  const isPersons = target.kind === 'persons'
  const table = isPersons ? 'persons' : '"groups"'
  const identity = isPersons
    ? "coalesce((select min(d.distinct_id) from person_distinct_ids d where d.person_id = t.id), '')"
    : 't.key'
  const part = search ? likePattern(search) : undefined
  const matches = `(${containsParameter('t.properties', '?')} or exists (
    select 1 from person_distinct_ids d where d.person_id = t.id and ${containsParameter('d.distinct_id', '?')}))`
  const direction = descending ? 'desc' : 'asc'
  const wanted = `
      from ${table} t
      where t.project_id = ? ${isPersons ? '' : 'and t.type_index = ?'} and t.id ${descending ? '<' : '>'} ?
        ${part ? `and ${matches}` : ''}
      order by t.id ${direction}
      limit ?`
  const statement = handle.prepare(`
    select count(*) as size, count(properties) as complete, sum(bytes) as bytes,
      ${descending ? 'min' : 'max'}(id) as last, group_concat(properties, char(10)) as properties
      ${needs.ids ? ', json_group_array(id) as ids' : ''}
      ${needs.identities ? ', json_group_array(identity) as identities' : ''}
    from (
      select t.id, octet_length(t.properties) as bytes,
        case when octet_length(t.properties) <= ? then ${propertiesColumn(needs)} end as properties
        ${needs.identities ? `, ${identity} as identity` : ''}
      ${wanted}
    )`)
  // SQLite reads the length from the row header, without the value.
  const fitting = handle.prepare(`
    select count(*) as rows
    from (
      select sum(bytes) over (order by id ${direction} rows unbounded preceding) as so_far
      from (select t.id, octet_length(t.properties) as bytes ${wanted})
    )
    where so_far <= ${batchBytesMax}`)
  const cohorts = needs.staticCohorts.length > 0 ? prepareCohorts(handle, needs.staticCohorts) : undefined
  const hashKeys = needs.continuityFlags.length > 0 ? prepareHashKeys(handle, needs.continuityFlags) : undefined
  const histories = needs.events.size > 0 ? prepareHistories(handle, needs) : undefined
  let isFrozen = false

  return {
    async next(after, rows) {
      const from = after ?? (descending ? Number.MAX_SAFE_INTEGER : -1)
      const where = [projectId, ...(isPersons ? [] : [target.typeIndex]), from, ...(part ? [part, part] : [])]
      const { read: row, rows: taken } = await readWithinBounds(
        rows,
        (limit, bytesMax) => (statement.all(bytesMax, ...where, limit) as [Row])[0],
        limit => (fitting.all(...where, limit) as [{ rows: number }])[0].rows,
      )
      const ids: number[] = row.ids === undefined ? [] : JSON.parse(row.ids)
      const [low, high] = descending ? [ids.at(-1), ids[0]] : [ids[0], ids.at(-1)]
      return {
        size: row.size,
        hasMore: row.size >= taken,
        last: row.last ?? undefined,
        properties: row.properties ?? '',
        ids,
        identities: row.identities === undefined ? [] : JSON.parse(row.identities),
        cohorts: low === undefined || !cohorts ? new Map() : cohorts(low, high as number),
        hashKeys: low === undefined || !hashKeys ? new Map() : hashKeys(low, high as number),
        histories: low === undefined || !histories ? new Map() : histories(low, high as number),
      }
    },
    async freeze() {
      handle.exec('begin')
      isFrozen = true
    },
    async close() {
      if (isFrozen) handle.exec('rollback')
    },
  }
}

interface Row extends Read {
  readonly size: number
  readonly last: number | null
  readonly properties: string | null
  readonly ids?: string
  readonly identities?: string
}

const placeholders = (items: readonly unknown[]): string => items.map(() => '?').join(', ')

function prepareCohorts(handle: SqliteHandle, ids: readonly number[]): (low: number, high: number) => Batch['cohorts'] {
  const statement = handle.prepare(
    `select cohort_id, person_id from cohort_people where cohort_id in (${placeholders(ids)}) and person_id between ? and ?`,
  )
  return (low, high) => cohortsByPerson(statement.all(...ids, low, high) as Parameters<typeof cohortsByPerson>[0])
}

function prepareHashKeys(
  handle: SqliteHandle,
  keys: readonly string[],
): (low: number, high: number) => Batch['hashKeys'] {
  const statement = handle.prepare(
    `select person_id, flag_key, hash_key from hash_key_overrides where person_id between ? and ? and flag_key in (${placeholders(keys)})`,
  )
  return (low, high) => hashKeysByPerson(statement.all(low, high, ...keys) as Parameters<typeof hashKeysByPerson>[0])
}

function prepareHistories(
  handle: SqliteHandle,
  { events, sinceDay }: Needs,
): (low: number, high: number) => Batch['histories'] {
  const query = historiesQuery(
    () => '?',
    text => `group_concat(${text}, ',')`,
    [...events.keys()],
  )
  const statement = handle.prepare(query)
  return (low, high) =>
    historiesByPerson(statement.all(sinceDay, low, high) as Parameters<typeof historiesByPerson>[0], events)
}
