import { plainText } from './json.ts'
import { rememberingLast } from './remembering.ts'

/** An instant, or a distance into the past that becomes one when `now` is known. */
export interface DateFilter {
  at(now: number): number
  /** False where the client libraries cannot read the date. */
  readonly certain: boolean
}

const relative = /^-?([0-9]+)([a-z])$/
const secondsText = /^\s*-?\d+(\.\d+)?\s*$/
const relativeCountMax = 10_000

export function parseDateFilter(value: unknown): DateFilter | undefined {
  if (typeof value === 'boolean') return undefined
  const match = relative.exec(plainText(value))
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
 * A number is milliseconds; text is what `Date` understands. Text of digits that is no date counts seconds, which only
 * the server knows.
 */
export function parseInstant(value: unknown): Instant | undefined {
  if (typeof value === 'string') return parseInstantText(value)
  if (typeof value !== 'number' && !(value instanceof Date)) return undefined
  const time = new Date(value).getTime()
  return Number.isNaN(time) ? undefined : { time, certain: true }
}

const parseInstantText = rememberingLast((text: string): Instant | undefined => {
  const time = new Date(text).getTime()
  if (!Number.isNaN(time)) return { time, certain: true }
  const seconds = secondsText.test(text) ? new Date(Number(text) * 1000).getTime() : Number.NaN
  return Number.isNaN(seconds) ? undefined : { time: seconds, certain: false }
})

/** Months and years overflow as `Date` does: a month before the 31st of March is the 2nd or 3rd of March. */
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
      return now => new Date(now).setUTCMonth(new Date(now).getUTCMonth() - count)
    case 'y':
      return now => new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() - count)
    default:
      return undefined
  }
}
