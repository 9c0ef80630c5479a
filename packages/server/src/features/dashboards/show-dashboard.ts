import type { Dashboard as DashboardWire } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Dashboard } from './dashboard.ts'
import { dashboardToWire, type ShownTile } from './dashboard-resource.ts'
import { type DayRange, daysIn } from './day-range.ts'
import { seriesOf, type Tile, tilesOf, usageKindOf } from './tile.ts'

/** A dashboard with the data of a range. Tiles of flags that no longer exist are omitted. */
export async function showDashboard(
  tx: Stores,
  dashboard: Dashboard,
  range: DayRange,
  now: Instant,
): Promise<DashboardWire> {
  const shown: ShownTile[] = []
  for (const tile of tilesOf(dashboard)) {
    const flag = await tx.flags.find(dashboard.projectId, tile.flagId)
    if (flag) shown.push(await showTile(tx, dashboard.projectId, tile, flag.key, range))
  }
  return dashboardToWire(dashboard, range, shown, now)
}

async function showTile(
  tx: Stores,
  projectId: number,
  tile: Tile,
  flagKey: string,
  range: DayRange,
): Promise<ShownTile> {
  const query = { flagKey, kind: usageKindOf[tile.metric], ...range }
  const points = await tx.usage.series(projectId, query)
  const people = tile.metric === 'calls' ? new Map<string, number>() : await tx.usage.uniqueUsers(projectId, query)
  const days = daysIn(range)
  return { tile, flagKey, days, series: seriesOf(tile.metric, days, points, people) }
}
