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
  const tiles: FlagTile[] = []
  for (const tile of tilesOf(dashboard)) {
    const flag = await tx.flags.find(dashboard.projectId, tile.flagId)
    if (flag) tiles.push({ tile, flagKey: flag.key })
  }
  return tiles
}

/** A dashboard with the data of a range. Raises `unavailable` when the counts cannot be read. */
export async function showDashboard(
  tx: Stores,
  dashboard: Dashboard,
  tiles: readonly FlagTile[],
  range: DayRange,
  countedUntil: Instant,
): Promise<DashboardWire> {
  const shown: ShownTile[] = []
  for (const tile of tiles) shown.push(await showTile(tx, dashboard.projectId, tile, range))
  return dashboardToWire(dashboard, range, shown, countedUntil)
}

/** A dashboard that a transaction has written, and how it is shown, unless that needs ClickHouse. */
export interface SavedDashboard {
  readonly dashboard: Dashboard
  readonly tiles: readonly FlagTile[]
  readonly countedUntil: Instant
  readonly shown: DashboardWire | undefined
}

/** At the end of a transaction, so that nothing can fail after the commit. */
export async function savedDashboard(tx: Stores, dashboard: Dashboard, now: Instant): Promise<SavedDashboard> {
  const tiles = await findTiles(tx, dashboard)
  const countedUntil = await tx.eventBacklog.countedUntil(now)
  const shown = tx.usage.isExternal
    ? undefined
    : await showDashboard(tx, dashboard, tiles, readDayRange({}, now), countedUntil)
  return { dashboard, tiles, countedUntil, shown }
}

/** After the commit. ClickHouse is queried only now, so that no lock waits for it; without it, the tiles are empty. */
export async function showSavedDashboard(
  database: Database,
  { dashboard, tiles, countedUntil, shown }: SavedDashboard,
  now: Instant,
): Promise<DashboardWire> {
  if (shown) return shown
  const range = readDayRange({}, now)
  try {
    return await database.query(tx => showDashboard(tx, dashboard, tiles, range, countedUntil))
  } catch (error) {
    if (!(error instanceof Problem && error.kind === 'unavailable')) throw error
    const empty = tiles.map(tile => shownTile(tile, range, [], new Map()))
    return dashboardToWire(dashboard, range, empty, countedUntil)
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
