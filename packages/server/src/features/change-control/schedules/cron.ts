import { fromLocalTime, localTime } from '../../../domain/freeze-recurrence.ts'

/** The five fields of a cron expression, as the values that each admits. */
export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** Sunday is 0. */
  readonly weekdays: ReadonlySet<number>
  /** As in every cron: when both days and weekdays are limited, either is enough. */
  readonly isEitherDay: boolean
}

/** Undefined when the text is not a standard expression such as `0 9 * * 1-5`. */
export function parseCron(text: string): Cron | undefined {
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5) return undefined
  const [minutes, hours, days, months, weekdays] = [
    readField(fields[0]!, 0, 59),
    readField(fields[1]!, 0, 23),
    readField(fields[2]!, 1, 31),
    readField(fields[3]!, 1, 12, monthNames, 1),
    readField(fields[4]!, 0, 7, weekdayNames, 0),
  ]
  if (!minutes || !hours || !days || !months || !weekdays) return undefined
  return {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map(day => day % 7)),
    isEitherDay: !fields[2]!.startsWith('*') && !fields[4]!.startsWith('*'),
  }
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** The values of a field in ascending order; undefined when it is malformed. */
function readField(
  text: string,
  min: number,
  max: number,
  names: readonly string[] = [],
  firstName = 0,
): readonly number[] | undefined {
  const number = (part: string): number => {
    const name = names.indexOf(part.toLowerCase())
    return name >= 0 ? name + firstName : /^\d{1,2}$/.test(part) ? Number(part) : Number.NaN
  }
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|([a-z\d]+)(?:-([a-z\d]+))?)(?:\/(\d{1,2}))?$/i.exec(part)
    if (!match) return undefined
    const [, all, first, last, step] = match
    const from = all ? min : number(first!)
    const to = all || (step !== undefined && last === undefined) ? max : number(last ?? first!)
    const by = step === undefined ? 1 : Number(step)
    if (!(from >= min && to <= max && from <= to && by >= 1)) return undefined
    for (let value = from; value <= to; value += by) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

const dayMilliseconds = 86_400_000
/** February 29 can be eight years away. */
const daysSearchedMax = 366 * 8 + 1

/** The first time after the moment, in the local time of the zone; undefined when there is none, as for February 30. */
export function nextCronTime(cron: Cron, after: Date, timeZone: string): Date | undefined {
  const local = localTime(after, timeZone).getTime()
  const midnight = Math.floor(local / dayMilliseconds) * dayMilliseconds
  for (let day = 0; day < daysSearchedMax; day++) {
    const start = midnight + day * dayMilliseconds
    if (!admitsDay(cron, new Date(start))) continue
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const wanted = start + (hour * 60 + minute) * 60_000
        if (wanted <= local) continue
        // A time that occurs twice is taken the first time only, which may be over.
        const at = fromLocalTime(new Date(wanted), timeZone)
        if (at > after) return at
      }
    }
  }
  return undefined
}

function admitsDay({ days, months, weekdays, isEitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday
}
