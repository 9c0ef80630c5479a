import type { Kysely } from 'kysely'
import { inParts } from '../../../storage/in-batches.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { UsageIncrement } from './usage.ts'
import { sampledUsersMax, thresholdAt } from './user-sample.ts'

const rowsPerInsertMax = 2000

/** A stored series and the increment to add to it. */
interface Series {
  readonly id: number
  readonly increment: UsageIncrement
  kept: number
  level: number
}

/**
 * Uses a fixed number of statements, independent of the number of series. The first locks the rows of the series, which serializes nodes
 * that count the same series.
 */
export async function addUsage(
  db: Kysely<Tables>,
  projectId: number,
  increments: readonly UsageIncrement[],
): Promise<void> {
  const ordered = inOrder(increments)
  const series = await addCalls(db, projectId, ordered)
  const grown = await addUsers(db, series)
  for (const one of grown) await thinOut(db, one)
  await saveSamples(db, projectId, grown)
  await markUsed(db, projectId, ordered)
}

const rowOf = (projectId: number, { flagKey, kind, variant, day, calls }: UsageIncrement) => ({
  project_id: projectId,
  flag_key: flagKey,
  kind,
  variant,
  day,
  calls,
  kept_users: 0,
  sampling_level: 0,
})

const seriesColumns = ['project_id', 'flag_key', 'kind', 'day', 'variant'] as const

const nameOf = (series: { flag_key: string; kind: string; day: string; variant: string }): string =>
  [series.flag_key, series.kind, series.day, series.variant].join('\u0001')

async function addCalls(
  db: Kysely<Tables>,
  projectId: number,
  increments: readonly UsageIncrement[],
): Promise<readonly Series[]> {
  const rows = await db
    .insertInto('flag_usage')
    .values(increments.map(increment => rowOf(projectId, increment)))
    .onConflict(conflict =>
      conflict
        .columns(seriesColumns)
        .doUpdateSet(({ eb, ref }) => ({ calls: eb('flag_usage.calls', '+', ref('excluded.calls')) })),
    )
    .returning(['id', 'flag_key', 'kind', 'day', 'variant', 'kept_users', 'sampling_level'])
    .execute()
  const byName = new Map(increments.map(increment => [nameOf(rowOf(projectId, increment)), increment]))
  return rows.map(row => ({
    id: row.id,
    increment: byName.get(nameOf(row)) as UsageIncrement,
    kept: row.kept_users,
    level: row.sampling_level,
  }))
}

/** Returns the series that gained users. */
async function addUsers(db: Kysely<Tables>, series: readonly Series[]): Promise<readonly Series[]> {
  const byId = new Map(series.map(one => [one.id, one]))
  const grown = new Set<Series>()
  const candidates = series.flatMap(one =>
    one.increment.userHashes
      .filter(hash => hash < thresholdAt(one.level))
      .map(user_hash => ({ usage_id: one.id, user_hash })),
  )
  for (const part of inParts(candidates, rowsPerInsertMax)) {
    const inserted = await db
      .insertInto('flag_usage_users')
      .values(part)
      .onConflict(conflict => conflict.doNothing())
      .returning('usage_id')
      .execute()
    for (const row of inserted) {
      const one = byId.get(row.usage_id) as Series
      one.kept += 1
      grown.add(one)
    }
  }
  return [...grown]
}

async function thinOut(db: Kysely<Tables>, series: Series): Promise<void> {
  while (series.kept > sampledUsersMax) {
    series.level += 1
    const result = await db
      .deleteFrom('flag_usage_users')
      .where('usage_id', '=', series.id)
      .where('user_hash', '>=', thresholdAt(series.level))
      .executeTakeFirst()
    series.kept -= Number(result.numDeletedRows)
  }
}

async function saveSamples(db: Kysely<Tables>, projectId: number, series: readonly Series[]): Promise<void> {
  if (series.length === 0) return
  await db
    .insertInto('flag_usage')
    .values(
      series.map(({ increment, kept, level }) => ({
        ...rowOf(projectId, increment),
        kept_users: kept,
        sampling_level: level,
      })),
    )
    .onConflict(conflict =>
      conflict.columns(seriesColumns).doUpdateSet(({ ref }) => ({
        kept_users: ref('excluded.kept_users'),
        sampling_level: ref('excluded.sampling_level'),
      })),
    )
    .execute()
}

export async function markUsed(
  db: Kysely<Tables>,
  projectId: number,
  increments: readonly UsageIncrement[],
): Promise<void> {
  const newest = new Map<string, { project_id: number; flag_key: string; kind: string; at: string }>()
  for (const { flagKey, kind, lastAt } of increments) {
    const name = `${kind}\u0001${flagKey}`
    if ((newest.get(name)?.at ?? '') < lastAt) {
      newest.set(name, { project_id: projectId, flag_key: flagKey, kind, at: lastAt })
    }
  }
  await db
    .insertInto('flag_last_used')
    .values([...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row))
    .onConflict(conflict =>
      conflict
        .columns(['project_id', 'kind', 'flag_key'])
        .doUpdateSet(({ ref }) => ({ at: ref('excluded.at') }))
        .whereRef('flag_last_used.at', '<', 'excluded.at'),
    )
    .execute()
}

/** A fixed lock order, so that two nodes cannot deadlock. */
const inOrder = (increments: readonly UsageIncrement[]): readonly UsageIncrement[] =>
  increments
    .map(increment => ({ increment, name: nameOf(rowOf(0, increment)) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ increment }) => increment)
