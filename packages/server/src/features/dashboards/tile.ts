import type { UsageKind, UsagePoint } from '../events/usage/usage.ts'

export type TileMetric = 'calls' | 'people' | 'views' | 'interactions'

export interface Tile {
  readonly flagId: number
  readonly metric: TileMetric
}

export const usageKindOf: Record<TileMetric, UsageKind> = {
  calls: 'called',
  people: 'called',
  views: 'viewed',
  interactions: 'interacted',
}

export interface Series {
  readonly label: string
  readonly data: readonly number[]
  readonly total: number
}

/** The tiles of a dashboard: the usage of its flag, then the tiles that users added. */
export function tilesOf(dashboard: {
  readonly flagId: number | null
  readonly isEnriched: boolean
  readonly tiles: readonly Tile[]
}): readonly Tile[] {
  const { flagId, isEnriched, tiles } = dashboard
  if (flagId === null) return tiles
  const metrics: readonly TileMetric[] = isEnriched ? ['calls', 'people', 'views', 'interactions'] : ['calls', 'people']
  return [...metrics.map(metric => ({ flagId, metric })), ...tiles]
}

/** The series of a tile: calls and people by variant; views and interactions as a total and as a number of people. */
export function seriesOf(
  metric: TileMetric,
  days: readonly string[],
  points: readonly UsagePoint[],
  people: ReadonlyMap<string, number>,
): readonly Series[] {
  if (metric === 'calls' || metric === 'people') {
    const variants = [...new Set(points.map(point => point.variant))].sort()
    return variants.map(variant => {
      const own = points.filter(point => point.variant === variant)
      if (metric === 'calls') return line(variant, days, own, 'calls')
      return { ...line(variant, days, own, 'users'), total: people.get(variant) ?? 0 }
    })
  }
  const allPeople = [...people.values()].reduce((sum, n) => sum + n, 0)
  return [line('total', days, points, 'calls'), { ...line('people', days, points, 'users'), total: allPeople }]
}

function line(label: string, days: readonly string[], points: readonly UsagePoint[], count: 'calls' | 'users'): Series {
  const byDay = new Map<string, number>()
  for (const point of points) byDay.set(point.day, (byDay.get(point.day) ?? 0) + point[count])
  const data = days.map(day => byDay.get(day) ?? 0)
  return { label, data, total: data.reduce((sum, n) => sum + n, 0) }
}
