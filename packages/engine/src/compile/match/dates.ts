import { toText } from '../../definition/json.ts'
import { memoizeLast } from './memoize-last.ts'

/** An absolute date, or one relative to `now`. */
export interface DateFilter {
  at(now: number): number
  /** False where PostHog SDKs cannot parse the date. */
  readonly certain: boolean
}

const relative = /^-?([0-9]+)([a-z])$/
const secondsText = /^\s*-?\d+(\.\d+)?\s*$/
const relativeCountMax = 10_000

export function parseDateFilter(value: unknown): DateFilter | undefined {
  if (typeof value === 'boolean') return undefined
  const match = relative.exec(toText(value))
  const step = match === null ? undefined : stepBack(Number.parseInt(match[1]!, 10), match[2]!)
  if (step !== undefined) return { at: step, certain: true }
  const instant = parseInstant(value)
  return instant === undefined ? undefined : { at: () => instant.time, certain: instant.certain }
}

export interface Instant {
  readonly time: number
  readonly certain: boolean
}

/**
 * A number is milliseconds; a string is what `Date` parses. Digits that `Date` rejects are Unix seconds, which only
 * PostHog's server supports.
 */
export function parseInstant(value: unknown): Instant | undefined {
  if (typeof value === 'string') return parseInstantText(value)
  if (typeof value !== 'number' && !(value instanceof Date)) return undefined
  const time = new Date(value).getTime()
  return Number.isNaN(time) ? undefined : { time, certain: true }
}

const parseInstantText = memoizeLast((text: string): Instant | undefined => {
  const usual = isoTime(text)
  const time = Number.isNaN(usual) ? new Date(text).getTime() : usual
  if (!Number.isNaN(time)) return { time, certain: true }
  const seconds = secondsText.test(text) ? new Date(Number(text) * 1000).getTime() : Number.NaN
  return Number.isNaN(seconds) ? undefined : { time: seconds, certain: false }
})

/**
 * Fast path for 2024-01-31 and 2024-01-31T08:00:00Z, with or without milliseconds: several times as fast as `Date`.
 * NaN for all other strings, and for days after the 28th, which need the length of the month.
 */
function isoTime(text: string): number {
  const { length } = text
  if (length !== 10 && length !== 20 && length !== 24) return Number.NaN
  const year = digitsAt(text, 0, 4)
  const month = text.charCodeAt(4) === dash ? digitsAt(text, 5, 2) : Number.NaN
  const day = text.charCodeAt(7) === dash ? digitsAt(text, 8, 2) : Number.NaN
  if (!(year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28)) return Number.NaN
  return Date.UTC(year, month - 1, day) + (length === 10 ? 0 : timeOfDay(text))
}

function timeOfDay(text: string): number {
  const { length } = text
  if (text.charCodeAt(10) !== letterT || text.charCodeAt(13) !== colon || text.charCodeAt(16) !== colon)
    return Number.NaN
  if (text.charCodeAt(length - 1) !== letterZ || (length === 24 && text.charCodeAt(19) !== point)) return Number.NaN
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  const second = digitsAt(text, 17, 2)
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN
  return ((hour * 60 + minute) * 60 + second) * 1000 + (length === 24 ? digitsAt(text, 20, 3) : 0)
}

/** Parses a fixed number of digits; NaN when one is no digit. */
function digitsAt(text: string, at: number, count: number): number {
  let number = 0
  for (let index = at; index < at + count; index++) {
    const digit = text.charCodeAt(index) - zero
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

const dash = 0x2d
const point = 0x2e
const zero = 0x30
const colon = 0x3a
const letterT = 0x54
const letterZ = 0x5a

/** Months and years overflow as in `Date`: one month before March 31 is March 2 or 3. */
function stepBack(count: number, unit: string): ((now: number) => number) | undefined {
  if (count >= relativeCountMax) return undefined
  switch (unit) {
    case 'h':
      return now => now - count * 3_600_000
    case 'd':
      return now => now - count * 86_400_000
    case 'w':
      return now => now - count * 7 * 86_400_000
    case 'm':
      return memoizeByNow(now => new Date(now).setUTCMonth(new Date(now).getUTCMonth() - count))
    case 'y':
      return memoizeByNow(now => new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() - count))
    default:
      return undefined
  }
}

/** Many evaluations share one `now`. */
function memoizeByNow(at: (now: number) => number): (now: number) => number {
  let lastNow = Number.NaN
  let last = Number.NaN
  return now => {
    if (now !== lastNow) {
      last = at(now)
      lastNow = now
    }
    return last
  }
}
