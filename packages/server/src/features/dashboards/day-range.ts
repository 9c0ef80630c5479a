import { type Instant, parseInstant, plusMilliseconds } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import { type Day, dayOf } from '../events/usage/usage.ts'

export interface DayRange {
  readonly from: Day
  /** Inclusive. */
  readonly to: Day
}

const dayMilliseconds = 24 * 60 * 60 * 1000
const daysMax = 366
const daysOfUnit: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

/** Throws `invalid` for an unparsable day, and for a range that is empty or longer than a year. */
export function readDayRange(query: { date_from?: string; date_to?: string }, now: Instant): DayRange {
  const from = readDay('date_from', query.date_from ?? '-30d', now)
  const to = query.date_to === undefined ? dayOf(now) : readDay('date_to', query.date_to, now)
  if (from > to) throw invalid('date_from', 'invalid_input', 'date_from must not be after date_to.')
  if (daysIn({ from, to }).length > daysMax) {
    throw invalid('date_from', 'invalid_input', `The range from date_from to date_to can have at most ${daysMax} days.`)
  }
  return { from, to }
}

function readDay(field: string, text: string, now: Instant): Day {
  const relative = /^-(\d{1,4})([dwmy])$/.exec(text)
  if (relative) {
    return dayOf(plusMilliseconds(now, -Number(relative[1]) * (daysOfUnit[relative[2] ?? 'd'] ?? 1) * dayMilliseconds))
  }
  const instant = parseInstant(text)
  if (instant === undefined)
    throw invalid(field, 'invalid_date', `${field} must be a day such as 2026-01-31, or relative such as -30d.`)
  return dayOf(instant)
}

export function daysIn({ from, to }: DayRange): readonly Day[] {
  const days: Day[] = []
  const end = Date.parse(`${to}T00:00:00Z`)
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= end && days.length <= daysMax; at += dayMilliseconds) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}
