import {
  countedEventsMax,
  countIntervalsMax,
  type EventCounts,
  eventCountByValueHoursMax,
  eventCountHoursMax,
  routes,
} from '@halyard/contract'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { instantOf, parseInstant } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import { countedFlags } from './counted-flags.ts'
import { type Minute, minuteOf, startOfHour } from './event-counts.ts'

const evaluation = '$feature_flag_called'
/** Among these, last seen first, the most frequent are chosen. */
const eventsReadMax = 50

interface Deps {
  readonly database: Database
  readonly snapshots: Snapshots
}

export function serveEventCounts(serve: ServeRoute, { database, snapshots }: Deps): void {
  serve(routes.eventCounts.list, async ({ project, query }) => {
    const { from, to } = readRange(query, eventCountHoursMax)
    const intervalMinutes = Math.ceil((to - from) / countIntervalsMax)
    // Without a transaction: no connection is held while ClickHouse is queried.
    const rows = await database.query(async tx => {
      const names = await latestEvents(tx, project.id)
      return tx.eventCounts.listByMinute(project.id, names, { from, to })
    })
    return toWire(rows, from, to, intervalMinutes)
  })

  serve(routes.eventCounts.byValue, async ({ project, params, query }) => {
    const range = readRange(query, eventCountByValueHoursMax)
    const [from, to] = [startOfHour(range.from), startOfHour(range.to + 59)]
    const live = (await snapshots.forProject(project.id))?.live ?? []
    return database.read(async tx => {
      const flag = await tx.flags.find(project.id, Number(params.id))
      if (!flag) throw missing('Flag')
      const { key } = flag
      const names = await latestEvents(tx, project.id)
      const totals = await tx.eventCounts.totalsWithFlag(project.id, key, names, { from, to })
      const events = [...totals].sort((a, b) => b.count - a.count)
      const event = query.event ?? events[0]?.event ?? null
      const rows =
        event === null ? [] : await tx.eventCounts.listByValue(project.id, { flagKey: key, event }, { from, to })
      const { watched, rollingOut } = countedFlags(live)
      return {
        from: instantOf(new Date(from * 60_000)),
        is_counted: watched.includes(key) || rollingOut.includes(key),
        events: events.slice(0, countedEventsMax),
        event,
        series: seriesByValue(rows, from, (to - from) / 60),
      }
    })
  })
}

/** Evaluations, and the events that were seen last. */
async function latestEvents(tx: Stores, projectId: number): Promise<readonly string[]> {
  const definitions = await tx.definitions.list(projectId, 'event')
  const latest = [...definitions].sort((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1)).slice(0, eventsReadMax)
  return [...new Set([evaluation, ...latest.map(({ name }) => name)])]
}

/** One number per hour for each value. */
function seriesByValue(rows: readonly ValueRow[], from: Minute, hours: number) {
  const byValue = new Map<string, number[]>()
  for (const { value, hour, count } of rows) {
    const counts = byValue.get(value) ?? Array<number>(hours).fill(0)
    counts[(hour - from) / 60] = count
    byValue.set(value, counts)
  }
  return [...byValue].sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, counts]) => ({ value, counts }))
}

interface ValueRow {
  readonly value: string
  /** Its first minute. */
  readonly hour: Minute
  readonly count: number
}

interface RangeQuery {
  readonly date_from?: string
  readonly date_to?: string
}

function readRange(query: RangeQuery, hoursMax: number): { readonly from: Minute; readonly to: Minute } {
  const from = readMinute('date_from', query.date_from)
  const to = readMinute('date_to', query.date_to)
  if (to <= from || to - from > hoursMax * 60) {
    throw invalid('date_to', 'invalid_input', `date_to must be at most ${hoursMax} hours after date_from.`)
  }
  return { from, to }
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
