import type { DashboardBasic, DashboardTile, Dashboard as DashboardWire, DashboardWrite } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import { userToWire } from '../identity/user-resource.ts'
import type { Dashboard, DashboardPatch } from './dashboard.ts'
import type { DayRange } from './day-range.ts'
import type { Series, Tile, TileMetric } from './tile.ts'

/** Every member of the project can view and edit; the numbers are PostHog's. */
const everyoneRestrictionLevel = 21
const editPrivilegeLevel = 37

export const dashboardToBasic = (dashboard: Dashboard): DashboardBasic => ({
  id: dashboard.id,
  name: dashboard.name,
  description: dashboard.description,
  pinned: dashboard.isPinned,
  created_at: dashboard.createdAt,
  created_by: userToWire(dashboard.createdBy),
  is_shared: false,
  deleted: dashboard.isDeleted,
  creation_mode: 'default',
  tags: dashboard.tags as unknown[],
  restriction_level: everyoneRestrictionLevel,
  effective_restriction_level: everyoneRestrictionLevel,
  effective_privilege_level: editPrivilegeLevel,
  feature_flag: dashboard.flagId,
  is_enriched: dashboard.isEnriched,
})

export interface ShownTile {
  readonly tile: Tile
  readonly flagKey: string
  readonly days: readonly string[]
  readonly series: readonly Series[]
}

export const dashboardToWire = (
  dashboard: Dashboard,
  range: DayRange,
  tiles: readonly ShownTile[],
  countedUntil: Instant,
): DashboardWire => ({
  ...dashboardToBasic(dashboard),
  filters: { date_from: range.from, date_to: range.to },
  tiles: tiles.map((tile, index) => tileToWire(tile, index + 1, countedUntil)),
})

const titles: Record<TileMetric, (key: string) => string> = {
  calls: key => `Calls of ${key} per day, by variant`,
  people: key => `Users of ${key} per day, by variant`,
  views: key => `Views of ${key} per day`,
  interactions: key => `Interactions with ${key} per day`,
}

const tileToWire = ({ tile, flagKey, days, series }: ShownTile, id: number, countedUntil: Instant): DashboardTile => ({
  id,
  insight: {
    name: titles[tile.metric](flagKey),
    feature_flag: tile.flagId,
    metric: tile.metric,
    interval: 'day',
    days: [...days],
    series: series.map(({ label, data, total }) => ({ label, data: [...data], total })),
  },
  text: null,
  layouts: {},
  color: null,
  last_refresh: countedUntil,
  is_cached: false,
})

export const dashboardPatchFromWire = (body: DashboardWrite): DashboardPatch => ({
  name: body.name,
  description: body.description,
  isPinned: body.pinned,
  isDeleted: body.deleted,
  tags: body.tags,
  tiles: body.tiles?.map(tile => ({ flagId: tile.feature_flag, metric: tile.metric })),
})
