import type pg from 'pg'
import { containsParameter, likePattern } from '../../storage/text-search.ts'
import {
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

/** Like the SQLite source: aggregates a batch into a few long strings instead of one row per subject. */
export function postgresSource(
  client: Pick<pg.ClientBase, 'query'>,
  projectId: number,
  target: Target,
  needs: Needs,
  { descending, search }: BatchOrder,
): Source {
  const isPersons = target.kind === 'persons'
  const identity = isPersons
    ? "coalesce((select min(d.distinct_id) from person_distinct_ids d where d.project_id = $1 and d.person_id = t.id), '')"
    : 't.key'
  const direction = descending ? 'desc' : 'asc'
  const searched = search
    ? `and (${containsParameter('t.properties', '$6')} or exists (
        select 1 from person_distinct_ids d where d.project_id = $1 and d.person_id = t.id and ${containsParameter('d.distinct_id', '$6')}))`
    : ''
  const wanted = `
      from ${isPersons ? 'persons' : '"groups"'} t
      where t.project_id = $1 and ${isPersons ? '$2::bigint is null' : 't.type_index = $2'} and t.id ${descending ? '<' : '>'} $3 ${searched}
      order by t.id ${direction}
      limit $4`
  const text = `
    select count(*) as size, count(properties) as complete, sum(bytes) as bytes, ${descending ? 'min' : 'max'}(id) as last,
      string_agg(properties, chr(10) order by id ${direction}) as properties
      ${needs.ids ? `, array_agg(id order by id ${direction}) as ids` : ''}
      ${needs.identities ? `, array_agg(identity order by id ${direction}) as identities` : ''}
    from (
      select t.id, octet_length(t.properties) as bytes,
        case when octet_length(t.properties) <= $5::bigint then ${propertiesColumn(needs)} end as properties
        ${needs.identities ? `, ${identity} as identity` : ''}
      ${wanted}
    ) as batch`
  const fitting = `
    select count(*) as rows
    from (
      select sum(bytes) over (order by id ${direction} rows unbounded preceding) as so_far
      from (select t.id, octet_length(t.properties) as bytes ${wanted}) as lengths
    ) as sums
    where so_far <= $5::bigint`
  let isFrozen = false

  return {
    async next(after, rows) {
      const from = after ?? (descending ? Number.MAX_SAFE_INTEGER : -1)
      const values = (limit: number, bytesMax: number) => [
        projectId,
        isPersons ? null : target.typeIndex,
        from,
        limit,
        bytesMax,
        ...(search ? [likePattern(search)] : []),
      ]
      const { read: row, rows: taken } = await readWithinBounds(
        rows,
        async (limit, bytesMax) => (await client.query<Row>(text, values(limit, bytesMax))).rows[0]!,
        async limit => (await client.query<{ rows: string }>(fitting, values(limit, batchBytesMax))).rows[0]!.rows,
      )
      const ids = (row.ids ?? []).map(Number)
      const [low, high] = descending ? [ids.at(-1), ids[0]] : [ids[0], ids.at(-1)]
      return {
        size: Number(row.size),
        hasMore: Number(row.size) >= taken,
        last: row.last === null ? undefined : Number(row.last),
        properties: row.properties ?? '',
        ids,
        identities: row.identities ?? [],
        cohorts: low === undefined ? new Map() : await cohortsOf(low, high as number),
        hashKeys: low === undefined ? new Map() : await hashKeysOf(low, high as number),
        histories: low === undefined ? new Map() : await historiesOf(low, high as number),
      }
    },
    async freeze() {
      await client.query('begin transaction isolation level repeatable read, read only')
      isFrozen = true
    },
    async close() {
      if (isFrozen) await client.query('rollback')
    },
  }

  async function cohortsOf(low: number, high: number) {
    if (needs.staticCohorts.length === 0) return new Map()
    const { rows } = await client.query(
      'select cohort_id, person_id from cohort_people where cohort_id = any($1) and person_id between $2 and $3',
      [needs.staticCohorts, low, high],
    )
    return cohortsByPerson(rows)
  }

  async function hashKeysOf(low: number, high: number) {
    if (needs.continuityFlags.length === 0) return new Map()
    const { rows } = await client.query(
      'select person_id, flag_key, hash_key from hash_key_overrides where person_id between $1 and $2 and flag_key = any($3)',
      [low, high, needs.continuityFlags],
    )
    return hashKeysByPerson(rows)
  }

  async function historiesOf(low: number, high: number) {
    if (needs.events.size === 0) return new Map()
    const query = historiesQuery(
      position => `$${position}`,
      text => `string_agg(${text}, ',')`,
      [...needs.events.keys()],
    )
    const { rows } = await client.query(query, [needs.sinceDay, low, high])
    return historiesByPerson(rows, needs.events)
  }
}

interface Row extends Read {
  readonly last: number | string | null
  readonly properties: string | null
  readonly ids?: readonly (number | string)[] | null
  readonly identities?: readonly string[] | null
}
