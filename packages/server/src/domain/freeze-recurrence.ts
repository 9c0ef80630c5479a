import rrule from 'rrule'
import { invalid } from '../problem.ts'

/** A recurrence rule (RFC 5545) for starts, in the local time of a time zone. */
export interface Recurrence {
  readonly rrule: string
  readonly durationMinutes: number
  readonly timeZone: string
}

const minuteMilliseconds = 60_000
const dayMilliseconds = 24 * 60 * minuteMilliseconds

/** Raises `invalid` (`rrule`). Rules by seconds or minutes would have too many occurrences. */
export function checkRule(text: string): void {
  if (!/(?:^|;|:)FREQ=(?:YEARLY|MONTHLY|WEEKLY|DAILY)(?:;|$)/.test(text) || /BYSECOND|DTSTART|\n/.test(text)) {
    throw invalid('rrule', 'invalid_input', 'rrule must be an RRULE with FREQ=YEARLY, MONTHLY, WEEKLY or DAILY.')
  }
  try {
    ruleOf(text, new Date(0))
  } catch {
    throw invalid('rrule', 'invalid_input', 'rrule must be a valid RRULE as in RFC 5545.')
  }
}

/**
 * Rules are evaluated in local time, written as if it were UTC, so that 9 o'clock stays 9 o'clock when the clocks change. The library never
 * sees a time zone.
 */
function ruleOf(text: string, from: Date) {
  const options = rrule.RRule.parseString(text)
  const midnight = new Date(Math.floor(from.getTime() / dayMilliseconds) * dayMilliseconds)
  return new rrule.RRule({
    ...options,
    dtstart: midnight,
    bysecond: [0],
    byminute: options.byminute ?? [0],
    byhour: options.byhour ?? [0],
  })
}

export interface Occurrence {
  readonly current: { readonly start: Date; readonly end: Date } | undefined
  readonly next: Date | undefined
}

/** The occurrence that contains the moment, and the next start after it. */
export function occurrenceAround({ rrule: text, durationMinutes, timeZone }: Recurrence, now: Date): Occurrence {
  const local = localTime(now, timeZone)
  const duration = durationMinutes * minuteMilliseconds
  // A rule that counts needs its start; any other one has an occurrence within a year.
  const isCounting = /INTERVAL=|COUNT=/.test(text)
  const rule = ruleOf(text, isCounting ? anchor : new Date(local.getTime() - lookBackMilliseconds))
  const start = rule.before(local, true)
  const end = start && fromLocalTime(new Date(start.getTime() + duration), timeZone)
  const next = rule.after(local, false)
  return {
    current: start && end && now < end ? { start: fromLocalTime(start, timeZone), end } : undefined,
    next: next ? fromLocalTime(next, timeZone) : undefined,
  }
}

/** Longer than a leap year and the longest freeze. */
const lookBackMilliseconds = 400 * dayMilliseconds
/** Every rule starts counting here: a Monday. */
const anchor = new Date(Date.UTC(2024, 0, 1))

/** The wall-clock time of a time zone, written as if it were UTC. */
export function localTime(at: Date, timeZone: string): Date {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const part = (type: string) => Number(parts.find(one => one.type === type)?.value)
  return new Date(Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')))
}

/** The moment of a wall-clock time. One that the clocks skip becomes the moment after the gap; of one that occurs twice, the first. */
export function fromLocalTime(local: Date, timeZone: string): Date {
  const offsetAt = (at: number) => localTime(new Date(at), timeZone).getTime() - at
  const wanted = local.getTime()
  const candidates = [wanted - offsetAt(wanted - dayMilliseconds), wanted - offsetAt(wanted + dayMilliseconds)]
  const exact = candidates.filter(at => localTime(new Date(at), timeZone).getTime() === wanted)
  return new Date(exact.length > 0 ? Math.min(...exact) : Math.max(...candidates))
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}
