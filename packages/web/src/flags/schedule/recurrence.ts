import type { Messages } from '../../i18n/en.ts'

export const repeats = ['once', 'daily', 'workdays', 'weekly', 'monthly', 'yearly'] as const
export type Repeat = (typeof repeats)[number]

/** How a switch repeats and when it is reverted, as typed. */
export interface PlannedRepeat {
  readonly repeat: Repeat
  /** When it is reverted: local date and time once, otherwise the time of day. Empty for never. */
  readonly revert: string
  /** The last day; empty for no end. */
  readonly lastDay: string
}

export const onlyOnce: PlannedRepeat = { repeat: 'once', revert: '', lastDay: '' }

const workdayCron = (time: string): string => {
  const [hours = '0', minutes = '0'] = time.split(':')
  return `${Number(minutes)} ${Number(hours)} * * 1-5`
}

const dayMilliseconds = 24 * 60 * 60 * 1000

/** The fields of the request, for a switch that starts at a local date and time. */
export function repeatToWire(at: string, { repeat, revert, lastDay }: PlannedRepeat, timezone: string) {
  const scheduled_at = new Date(at).toISOString()
  if (repeat === 'once') {
    return { scheduled_at, ...(revert !== '' && { pair: { scheduled_at: new Date(revert).toISOString() } }) }
  }
  const ending = lastDay === '' ? {} : { end_date: new Date(`${lastDay}T23:59:59`).toISOString() }
  const recurring = { is_recurring: true, timezone, ...ending }
  if (repeat === 'workdays') {
    const pair = revert === '' ? {} : { pair: { cron_expression: workdayCron(revert) } }
    return { ...recurring, cron_expression: workdayCron(timeOfDay(at)), ...pair }
  }
  const first = revert === '' ? undefined : firstAfter(at, revert).toISOString()
  return { scheduled_at, ...recurring, recurrence_interval: repeat, ...(first && { pair: { scheduled_at: first } }) }
}

export const timeOfDay = (at: string): string => at.slice(11, 16)

/** The first time of day after a local date and time: the next day when it is earlier. */
function firstAfter(at: string, time: string): Date {
  const start = new Date(at)
  const same = new Date(`${at.slice(0, 10)}T${time}`)
  return same > start ? same : new Date(same.getTime() + dayMilliseconds)
}

interface Recurring {
  readonly is_recurring?: unknown
  readonly recurrence_interval?: unknown
  readonly cron_expression?: unknown
  readonly timezone?: unknown
  readonly end_date?: unknown
}

/** Configured to repeat, but stopped. */
export const isPaused = ({ is_recurring, recurrence_interval, cron_expression }: Recurring): boolean =>
  is_recurring === false && (typeof recurrence_interval === 'string' || typeof cron_expression === 'string')

/** How a change repeats, such as "Every working day at 09:00 (UTC)"; undefined for one that runs once. */
export function recurrenceSentence(
  change: Recurring,
  t: Messages,
  day: (instant: string) => string,
): string | undefined {
  const { recurrence_interval: interval, cron_expression: cron, timezone, end_date: end } = change
  const words = t.schedule.repeats
  const zone = String(timezone ?? 'UTC')
  const until = typeof end === 'string' ? ` ${t.schedule.untilDay(day(end))}` : ''
  if (typeof interval === 'string')
    return `${(words as Readonly<Record<string, string>>)[interval] ?? interval}${until}`
  if (typeof cron !== 'string') return undefined
  const workdays = /^(\d{1,2}) (\d{1,2}) \* \* 1-5$/.exec(cron)
  if (!workdays) return `${t.schedule.cron(cron, zone)}${until}`
  const time = `${workdays[2]!.padStart(2, '0')}:${workdays[1]!.padStart(2, '0')}`
  return `${t.schedule.workdaysAt(time, zone)}${until}`
}
