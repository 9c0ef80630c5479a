/**
 * A moment in UTC as text, always `YYYY-MM-DDTHH:MM:SS.ffffffZ`: it sorts as it is, is stored as it is and loses no microsecond
 * of what a client wrote, which a JavaScript `Date` would.
 */
export type Instant = string

export const instantOf = (date: Date): Instant => date.toISOString().replace('Z', '000Z')

export const dateOf = (instant: Instant): Date => new Date(instant)

export const plusMilliseconds = (instant: Instant, milliseconds: number): Instant =>
  instantOf(new Date(dateOf(instant).getTime() + milliseconds))

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/** Reads ISO 8601; without an offset it is UTC. Undefined when the text is not a real moment. */
export function parseInstant(text: string): Instant | undefined {
  const match = pattern.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] = match
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'))
  const local = new Date(0)
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  local.setUTCHours(Number(hour), Number(minute), Number(second))
  const isReal =
    local.getUTCFullYear() === Number(year) &&
    local.getUTCMonth() === Number(month) - 1 &&
    local.getUTCDate() === Number(day) &&
    local.getUTCHours() === Number(hour) &&
    local.getUTCMinutes() === Number(minute) &&
    local.getUTCSeconds() === Number(second)
  const offsetMinutes = readOffset(offset)
  if (!isReal || offsetMinutes === undefined) return undefined
  const utc = new Date(local.getTime() - offsetMinutes * 60_000)
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return undefined
  return `${utc.toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`
}

function readOffset(offset: string): number | undefined {
  if (offset.toUpperCase() === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) return undefined
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
