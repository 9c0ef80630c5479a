import { fromLocalTime, isTimeZone, localTime } from '../../../domain/freeze-recurrence.ts'
import { dateOf, type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import { nextCronTime, parseCron } from './cron.ts'

export const recurrenceIntervals = ['daily', 'weekly', 'monthly', 'yearly'] as const
export type RecurrenceInterval = (typeof recurrenceIntervals)[number]

/** How a scheduled change repeats, with PostHog's fields. One that is configured but not `isRecurring` is paused. */
export interface ScheduleRecurrence {
  readonly isRecurring: boolean
  readonly interval: RecurrenceInterval | null
  readonly cron: string | null
  /** The zone whose local time stays the same when the clocks change. */
  readonly timeZone: string
  /** The first run: intervals are counted from it, so that the 31st stays the 31st. */
  readonly firstAt: Instant | null
  readonly endDate: Instant | null
}

export const isPaused = ({ isRecurring, interval, cron }: ScheduleRecurrence): boolean =>
  !isRecurring && (interval !== null || cron !== null)

/** Limits how often a flag is written; every five minutes is enough. */
const minutesPerHourMax = 12

/** Raises `invalid`. */
export function checkRecurrence({ isRecurring, interval, cron, timeZone, endDate }: ScheduleRecurrence): void {
  if (interval !== null && cron !== null) {
    throw invalid('cron_expression', 'invalid_input', 'Send either cron_expression or recurrence_interval.')
  }
  if (isRecurring && interval === null && cron === null) {
    throw invalid('recurrence_interval', 'required', 'A recurring change needs recurrence_interval or cron_expression.')
  }
  if (!isRecurring && interval === null && cron === null && endDate !== null) {
    throw invalid('end_date', 'invalid_input', 'end_date is for recurring changes.')
  }
  if (!isTimeZone(timeZone)) {
    throw invalid('timezone', 'invalid_input', 'timezone must be an IANA time zone such as Europe/Berlin.')
  }
  if (cron === null) return
  const parsed = parseCron(cron)
  if (!parsed || nextCronTime(parsed, new Date(), timeZone) === undefined) {
    throw invalid('cron_expression', 'invalid_input', 'cron_expression must have five fields, such as `0 9 * * 1-5`.')
  }
  if (parsed.minutes.length > minutesPerHourMax) {
    throw invalid('cron_expression', 'invalid_input', 'cron_expression can run at most every five minutes.')
  }
}

/** The first run after the moment; undefined when the schedule has ended. */
export function nextRun(recurrence: ScheduleRecurrence, after: Instant): Instant | undefined {
  const next = unlimitedNextRun(recurrence, dateOf(after))
  const at = next && instantOf(next)
  return at !== undefined && (recurrence.endDate === null || at <= recurrence.endDate) ? at : undefined
}

function unlimitedNextRun({ interval, cron, timeZone, firstAt }: ScheduleRecurrence, after: Date): Date | undefined {
  if (cron !== null) {
    const parsed = parseCron(cron)
    return parsed && nextCronTime(parsed, after, timeZone)
  }
  if (interval === null || firstAt === null) return undefined
  const first = localTime(dateOf(firstAt), timeZone)
  const local = localTime(after, timeZone)
  // Counted from the first run and one step early, so that a clock change cannot skip a run.
  for (let step = Math.max(0, stepsBetween(first, local, interval) - 1); ; step++) {
    const at = fromLocalTime(plusSteps(first, step, interval), timeZone)
    if (at > after) return at
  }
}

const dayMilliseconds = 86_400_000

function stepsBetween(from: Date, to: Date, interval: RecurrenceInterval): number {
  const days = Math.floor((to.getTime() - from.getTime()) / dayMilliseconds)
  if (interval === 'daily') return days
  if (interval === 'weekly') return Math.floor(days / 7)
  const years = to.getUTCFullYear() - from.getUTCFullYear()
  return interval === 'yearly' ? years : years * 12 + to.getUTCMonth() - from.getUTCMonth()
}

function plusSteps(from: Date, steps: number, interval: RecurrenceInterval): Date {
  if (interval === 'daily' || interval === 'weekly') {
    return new Date(from.getTime() + steps * (interval === 'daily' ? 1 : 7) * dayMilliseconds)
  }
  const months = from.getUTCMonth() + steps * (interval === 'yearly' ? 12 : 1)
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), months + 1, 0)).getUTCDate()
  const date = new Date(from)
  date.setUTCFullYear(from.getUTCFullYear(), months, Math.min(from.getUTCDate(), lastDay))
  return date
}

const lookBackHours = [1, 24, 7 * 24, 31 * 24, 366 * 24]

/** The last run up to the moment, not before a given one: after an outage only that one counts. */
export function lastRun(recurrence: ScheduleRecurrence, from: Instant, now: Instant): Instant {
  for (const hours of lookBackHours) {
    const start = plusMilliseconds(now, -hours * 3_600_000)
    let last = nextRun(recurrence, start > from ? start : from)
    if (last === undefined || last > now) {
      if (start <= from) break
      continue
    }
    for (let next = nextRun(recurrence, last); next !== undefined && next <= now; next = nextRun(recurrence, last)) {
      last = next
    }
    return last
  }
  return from
}
