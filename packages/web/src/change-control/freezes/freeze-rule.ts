export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
export type Weekday = (typeof weekdays)[number]

export interface WeeklyRule {
  readonly days: readonly Weekday[]
  /** Local time, such as `16:00`. */
  readonly time: string
}

/** An RRULE for some days of each week. */
export function writeWeeklyRule({ days, time }: WeeklyRule): string {
  const [hour, minute] = time.split(':').map(Number)
  const byDay = weekdays.filter(day => days.includes(day)).join(',')
  return `FREQ=WEEKLY;BYDAY=${byDay};BYHOUR=${hour ?? 0};BYMINUTE=${minute ?? 0}`
}

/** Undefined for a rule that only the API can make. */
export function readWeeklyRule(rule: string): WeeklyRule | undefined {
  const parts = new Map(rule.split(';').map(part => part.split('=', 2) as [string, string]))
  const days = (parts.get('BYDAY') ?? '').split(',').map(name => weekdays.find(day => day === name))
  const isWeekly = parts.get('FREQ') === 'WEEKLY' && parts.size === 4
  const [hour, minute] = [parts.get('BYHOUR'), parts.get('BYMINUTE')]
  if (!isWeekly || hour === undefined || minute === undefined) return undefined
  if (!/^\d+$/.test(hour) || !/^\d+$/.test(minute)) return undefined
  const validDays = days.filter(day => day !== undefined)
  if (validDays.length === 0 || validDays.length < days.length) return undefined
  return { days: validDays, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` }
}

/** A Monday; the names of days follow from it in each language. */
const monday = Date.UTC(2024, 0, 1)
const dayMilliseconds = 86_400_000

export const weekdayName = (day: Weekday, language: string, width: 'short' | 'long'): string =>
  new Intl.DateTimeFormat(language, { weekday: width, timeZone: 'UTC' }).format(
    monday + weekdays.indexOf(day) * dayMilliseconds,
  )
