import type { Dashboard as DashboardWire } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { UsagePoint } from '../events/usage/usage.ts'
import type { Dashboard } from './dashboard.ts'
import { dashboardToWire, type ShownTile } from './dashboard-resource.ts'
import { type DayRange, daysIn, readDayRange } from './day-range.ts'
import { seriesOf, tilesOf, usageKindOf } from './tile.ts'

/** A tile of a flag that exists. */
export type FlagTile = Pick<ShownTile, 'tile' | 'flagKey'>

/** The tiles whose flags still exist. */
export async function findTiles(tx: Stores, dashboard: Dashboard): Promise<readonly FlagTile[]> {
  const found: FlagTile[] = []
  for (const tile of tilesOf(dashboard)) {
    const flag = await tx.flags.find(dashboard.projectId, tile.flagId)
    if (flag) found.push({ tile, flagKey: flag.key })
  }
  return found
}

/**
 * A dashboard with the data of a range. Reads without a transaction, so that no connection is held while ClickHouse is queried. Raises
 * `unavailable` when the counts cannot be read.
 */
export function showDashboard(
  database: Database,
  dashboard: Dashboard,
  tiles: readonly FlagTile[],
  range: DayRange,
  now: Instant,
): Promise<DashboardWire> {
  return database.query(async tx => {
    const countedUntil = await tx.eventBacklog.countedUntil(now)
    const shown: ShownTile[] = []
    for (const tile of tiles) shown.push(await showTile(tx, dashboard.projectId, tile, range))
    return dashboardToWire(dashboard, range, shown, countedUntil)
  })
}

/** The same after a write, which succeeded even when its counts cannot be read: then the tiles are empty. */
export async function showSavedDashboard(
  database: Database,
  dashboard: Dashboard,
  tiles: readonly FlagTile[],
  now: Instant,
): Promise<DashboardWire> {
  const range = readDayRange({}, now)
  try {
    return await showDashboard(database, dashboard, tiles, range, now)
  } catch (error) {
    if (!(error instanceof Problem && error.kind === 'unavailable')) throw error
    const empty = tiles.map(tile => shownTile(tile, range, [], new Map()))
    return dashboardToWire(dashboard, range, empty, now)
  }
}

async function showTile(tx: Stores, projectId: number, flagTile: FlagTile, range: DayRange): Promise<ShownTile> {
  const { tile, flagKey } = flagTile
  const query = { flagKey, kind: usageKindOf[tile.metric], ...range }
  const points = await tx.usage.series(projectId, query)
  const people = tile.metric === 'calls' ? new Map<string, number>() : await tx.usage.uniqueUsers(projectId, query)
  return shownTile(flagTile, range, points, people)
}

function shownTile(
  { tile, flagKey }: FlagTile,
  range: DayRange,
  points: readonly UsagePoint[],
  people: ReadonlyMap<string, number>,
): ShownTile {
  const days = daysIn(range)
  return { tile, flagKey, days, series: seriesOf(tile.metric, days, points, people) }
}
