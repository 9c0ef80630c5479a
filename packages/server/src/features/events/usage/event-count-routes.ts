import { countedEventsMax, countIntervalsMax, type EventCounts, eventCountHoursMax, routes } from '@halyard/contract'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { instantOf, parseInstant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { type Minute, minuteOf } from './event-counts.ts'

const evaluation = '$feature_flag_called'
/** Among these, last seen first, the most frequent are chosen. */
const eventsReadMax = 50

export function serveEventCounts(serve: ServeRoute, { database }: { readonly database: Database }): void {
  serve(routes.eventCounts.list, async ({ project, query }) => {
    const from = readMinute('date_from', query.date_from)
    const to = readMinute('date_to', query.date_to)
    if (to <= from || to - from > eventCountHoursMax * 60) {
      throw invalid('date_to', 'invalid_input', `date_to must be at most ${eventCountHoursMax} hours after date_from.`)
    }
    const intervalMinutes = Math.ceil((to - from) / countIntervalsMax)
    // Without a transaction: no connection is held while ClickHouse is queried.
    const rows = await database.query(async tx => {
      const definitions = await tx.definitions.list(project.id, 'event')
      const latest = [...definitions].sort((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1)).slice(0, eventsReadMax)
      const names = new Set([evaluation, ...latest.map(({ name }) => name)])
      return tx.eventCounts.listByMinute(project.id, [...names], { from, to })
    })
    return toWire(rows, from, to, intervalMinutes)
  })
}

function readMinute(field: string, text = ''): Minute {
  const instant = parseInstant(text)
  if (!instant) throw invalid(field, 'invalid_input', `${field} must be a time, such as 2026-01-31T12:00:00Z.`)
  return minuteOf(instant)
}

interface CountRow {
  readonly event: string
  readonly minute: Minute
  readonly count: number
}

function toWire(rows: readonly CountRow[], from: Minute, to: Minute, intervalMinutes: number): EventCounts {
  const intervals = Math.ceil((to - from) / intervalMinutes)
  const byEvent = new Map<string, { counts: number[]; total: number }>()
  for (const { event, minute, count } of rows) {
    const series = byEvent.get(event) ?? { counts: Array<number>(intervals).fill(0), total: 0 }
    const at = Math.floor((minute - from) / intervalMinutes)
    series.counts[at] = (series.counts[at] ?? 0) + count
    series.total += count
    byEvent.set(event, series)
  }
  const weight = ([event, { total }]: [string, { total: number }]) =>
    event === evaluation ? Number.POSITIVE_INFINITY : total
  return {
    from: instantOf(new Date(from * 60_000)),
    interval_minutes: intervalMinutes,
    events: [...byEvent]
      .sort((a, b) => weight(b) - weight(a))
      .slice(0, countedEventsMax)
      .map(([event, { counts }]) => ({ event, counts })),
  }
}
